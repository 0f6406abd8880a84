package diagnostics

import (
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"koordinator.sh/koord/decision/core/podrequest"
)

func TestFiguresBecomeMetrics(t *testing.T) {
	amount := podrequest.Amount{MilliCPU: 1500, Memory: 1024}
	collector := NewCollector(func() NodeMetrics {
		return NodeMetrics{
			Node: "n", Started: time.Unix(5, 0), Used: &amount, System: &amount, Budget: new(int64(2500)), AboveUsed: new(int64(250)),
			BestEffortUsed: new(int64(0)), Policy: "cpuset", Shared: []Pool{{"0", "0-3", 4}}, BestEffort: []Pool{{"1", "4", 1}},
			Evictions: map[string]int{"trigger by koordlet feature CPUEvict": 2}, Peak: map[string]podrequest.Amount{"podPredictor": amount},
			Reclaimable: map[string]podrequest.Amount{"minPredictor": amount}, Allocatable: map[string]float64{"cpu": 4},
			Wanted: map[string]int32{"GroupIdentity": 3}, InForce: map[string]int32{"GroupIdentity": 2}, AuditEntries: 9,
		}
	})
	if problems, err := testutil.CollectAndLint(collector); err != nil {
		t.Error(err)
	} else if len(problems) > 3 {
		t.Errorf("more than upstream's names is against the conventions: %v", problems)
	}
	want := `
# HELP koordlet_be_suppress_cpu_cores CPU limit of all best-effort pods together in cores, by type of limit.
# TYPE koordlet_be_suppress_cpu_cores gauge
koordlet_be_suppress_cpu_cores{node="n",type="cpuset"} 2.5
# HELP koordlet_cpuset_share_pool_info Shared pool of services as a list of CPUs; always 1.
# TYPE koordlet_cpuset_share_pool_info gauge
koordlet_cpuset_share_pool_info{cpuset="0-3",node="n",numa_node="0"} 1
# HELP koordlet_node_predicted_resource_peak Predicted peak usage, by predictor.
# TYPE koordlet_node_predicted_resource_peak gauge
koordlet_node_predicted_resource_peak{node="n",predictor="podPredictor",resource="cpu",unit="core"} 1.5
koordlet_node_predicted_resource_peak{node="n",predictor="podPredictor",resource="memory",unit="byte"} 1024
# HELP koordlet_pod_eviction Number of evicted pods, by reason.
# TYPE koordlet_pod_eviction counter
koordlet_pod_eviction{node="n",reason="trigger by koordlet feature CPUEvict"} 2
`
	if err := testutil.CollectAndCompare(collector, strings.NewReader(want), "koordlet_be_suppress_cpu_cores", "koordlet_cpuset_share_pool_info",
		"koordlet_node_predicted_resource_peak", "koordlet_pod_eviction"); err != nil {
		t.Error(err)
	}
	if got := testutil.CollectAndCount(NewCollector(func() NodeMetrics { return NodeMetrics{Node: "n"} })); got != 2 {
		t.Errorf("%d metrics of an agent that knows nothing, want 2", got)
	}
}
