package exchange

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"koordinator.sh/koord/bridge/engine"
	"koordinator.sh/koord/decision/noderesource/thirdparty"
)

const subsystem = "koord_bridge"

var (
	engineUp = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Subsystem: subsystem, Name: "engine_up", Help: "1 while the engine could be read in the last round, 0 while not.",
	}, []string{"engine", "cluster"})
	rounds = prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Subsystem: subsystem, Name: "round_duration_seconds", Help: "Time to look at both sides and to tell each what follows, by result: ok or error.",
		Buckets: prometheus.ExponentialBuckets(0.005, 2, 12),
	}, []string{"engine", "cluster", "result"})
	capacityChanges = prometheus.NewCounterVec(prometheus.CounterOpts{
		Subsystem: subsystem, Name: "capacity_changes_total", Help: "Nodes whose capacity was changed in the engine, by result: ok or error.",
	}, []string{"engine", "cluster", "result"})
	nodeCPU = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Subsystem: subsystem, Name: "node_cpu_cores", Help: "CPU of the engine on a node: capacity, allocated, wanted, and taken from pods.",
	}, []string{"engine", "cluster", "node", "amount"})
	nodeMemory = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Subsystem: subsystem, Name: "node_memory_bytes", Help: "Memory of the engine on a node: capacity, allocated, wanted, and taken from pods.",
	}, []string{"engine", "cluster", "node", "amount"})
)

func init() {
	metrics.Registry.MustRegister(engineUp, rounds, capacityChanges, nodeCPU, nodeMemory)
}

func up(e engine.Engine, is bool) {
	value := 0.0
	if is {
		value = 1
	}
	engineUp.WithLabelValues(e.Name(), e.Cluster()).Set(value)
}

func result(err error) string {
	if err != nil {
		return "error"
	}
	return "ok"
}

func countRound(e engine.Engine, err error, took time.Duration) {
	rounds.WithLabelValues(e.Name(), e.Cluster(), result(err)).Observe(took.Seconds())
}

func countChanges(e engine.Engine, nodes int, err error) {
	capacityChanges.WithLabelValues(e.Name(), e.Cluster(), result(err)).Add(float64(nodes))
}

func setNode(e engine.Engine, node string, own engine.Node, verdict thirdparty.Verdict) {
	for amount, value := range map[string]engine.Amount{
		"capacity": own.Capacity, "allocated": own.Allocated, "wanted": verdict.Wanted, "taken": verdict.Taken,
	} {
		nodeCPU.WithLabelValues(e.Name(), e.Cluster(), node, amount).Set(float64(value.MilliCPU) / 1000)
		nodeMemory.WithLabelValues(e.Name(), e.Cluster(), node, amount).Set(float64(value.Memory))
	}
}

func forgetMetrics(e engine.Engine, node string) {
	labels := prometheus.Labels{"engine": e.Name(), "cluster": e.Cluster(), "node": node}
	nodeCPU.DeletePartialMatch(labels)
	nodeMemory.DeletePartialMatch(labels)
}
