package noderesource

import (
	"slices"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/decision/noderesource/nodeextension"
	"koordinator.sh/koord/decision/noderesource/overcommit"
)

var (
	reconciles = prometheus.NewCounterVec(prometheus.CounterOpts{
		Subsystem: "slo_controller", Name: "node_resource_reconcile_count",
		Help: "Number of reconciliations of node resources, by outcome.",
	}, []string{"status", "reason"})
	plugins = prometheus.NewCounterVec(prometheus.CounterOpts{
		Subsystem: "slo_controller", Name: "node_resource_run_plugin_status",
		Help: "Number of calculations of node resources, by part and outcome. The reason of outcome degraded is the state of the NodeMetric, NotEnforcing, " +
			"CPUUnknown, or Unreadable for an invalid annotation of the node.",
	}, []string{"plugin", "status", "reason"})
	internal = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Subsystem: "slo_controller", Name: "node_extended_resource_allocatable_internal",
		Help: "Batch and mid resources that a node can offer now, cpu in cores and memory in bytes, published or not.",
	}, []string{"node", "resource", "unit"})
	beyond = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Subsystem: "slo_controller", Name: "node_extended_resource_beyond_node",
		Help: "Batch and mid resources that a node offers in excess of what it has, cpu in cores and memory in bytes; absent when there is no excess.",
	}, []string{"node", "resource", "unit"})
	unenforced = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Subsystem: "slo_controller", Name: "node_not_enforcing",
		Help: "1 for a node whose koordlet cannot limit best-effort pods, by reason; absent for other nodes.",
	}, []string{"node", "reason"})
)

var register = sync.OnceFunc(func() { metrics.Registry.MustRegister(reconciles, plugins, internal, beyond, unenforced) })

func count(err error) {
	if err != nil {
		reconciles.WithLabelValues("failed", "reconcileNodeResource").Inc()
		return
	}
	reconciles.WithLabelValues("succeeded", "reconcileNodeResource").Inc()
}

// publishInternal sets the metric of the resources that a node can offer. A withdrawn resource has no value.
func publishInternal(node string, result overcommit.Result) {
	gauge := func(name, unit string, value overcommit.Value, scale float64) {
		if value.Withdrawn {
			internal.DeleteLabelValues(node, name, unit)
			return
		}
		internal.WithLabelValues(node, name, unit).Set(float64(value.Value) / scale)
	}
	gauge(string(extension.BatchCPU), "integer", result.BatchCPU, 1000)
	gauge(string(extension.BatchMemory), "byte", result.BatchMemory, 1)
	gauge(string(extension.MidCPU), "integer", result.MidCPU, 1000)
	gauge(string(extension.MidMemory), "byte", result.MidMemory, 1)
	for plugin, value := range map[string]overcommit.Value{"BatchResource": result.BatchCPU, "MidResource": result.MidCPU} {
		if value.Withdrawn {
			ran(plugin, degradedBecause(result))
		} else {
			ran(plugin, "")
		}
	}
}

// degradedBecause is the state of the measurements, or that the node's agent does not enforce.
func degradedBecause(result overcommit.Result) string {
	if result.NotEnforcing != "" {
		return "NotEnforcing"
	}
	return string(result.Metric)
}

// ran counts a calculation; it is degraded where there is a reason why it gave less than it should.
func ran(plugin, degraded string) {
	if degraded != "" {
		plugins.WithLabelValues(plugin, "degraded", degraded).Inc()
		return
	}
	plugins.WithLabelValues(plugin, "succeeded", "").Inc()
}

// publish counts what became of the extensions of one node. When anything of them could not be read, none takes effect; what is
// not looked at is not counted.
func (e extensions) publish(decided nodeextension.Verdict, err error) {
	// The names are upstream's, which has a plugin for each kind of device.
	ratios, devices := []string{"CPUNormalization", "ResourceAmplification"}, []string{"GPUDeviceResource", "RDMADeviceResource"}
	if e.devices == nil {
		devices = nil
	}
	if err != nil {
		for _, plugin := range slices.Concat(ratios, devices) {
			plugins.WithLabelValues(plugin, "failed", "read").Inc()
		}
		return
	}
	unreadable := func(is bool) string {
		if is {
			return "Unreadable"
		}
		return ""
	}
	if decided.CPUUnknown() {
		ran(ratios[0], "CPUUnknown")
	} else {
		ran(ratios[0], unreadable(len(decided.Normalization.Problems) > 0))
	}
	ran(ratios[1], unreadable(decided.Amplification.Problem != ""))
	for _, plugin := range devices {
		ran(plugin, "")
	}
}

// forget deletes the series of a deleted node.
func forget(node string) {
	internal.DeletePartialMatch(prometheus.Labels{"node": node})
	beyond.DeletePartialMatch(prometheus.Labels{"node": node})
	unenforced.DeletePartialMatch(prometheus.Labels{"node": node})
}

// publishExcess sets the metric of the resources that a node offers in excess.
func publishExcess(node string, found []overcommit.Excess) {
	gauge := func(name corev1.ResourceName, unit string, scale float64) {
		i := slices.IndexFunc(found, func(e overcommit.Excess) bool { return e.Name == name })
		if i < 0 {
			beyond.DeleteLabelValues(node, string(name), unit)
			return
		}
		beyond.WithLabelValues(node, string(name), unit).Set(float64(found[i].Beyond) / scale)
	}
	gauge(extension.BatchCPU, "integer", 1000)
	gauge(extension.BatchMemory, "byte", 1)
}
