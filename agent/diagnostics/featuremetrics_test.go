package diagnostics

import (
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil"
)

func TestFiguresOfFeaturesBecomeMetrics(t *testing.T) {
	collector := NewCollector(func() NodeMetrics {
		return NodeMetrics{Node: "n", Features: FeatureMetrics{
			Groups:   []ResctrlGroupMetrics{{Name: "BE", Occupancy: 4096, Total: new(2e6)}},
			Bursts:   []BurstMetrics{{"shop", "web-0", "main", 20000, 250000}},
			Services: []ServiceMetrics{{Namespace: "shop", Pod: "web-0", UID: "u", CPI: 1.5, Pressure: []PressureMetrics{{"mem", "some", 12.5, 10}}}, {Namespace: "shop", Pod: "new"}},
			Cookies:  []CookieMetrics{{"shop", "web-0", "web", "77"}},
		}}
	})
	want := `
# HELP koordlet_container_scaled_cfs_quota_us CPU quota of a container that may burst, in microseconds per 100 ms.
# TYPE koordlet_container_scaled_cfs_quota_us gauge
koordlet_container_scaled_cfs_quota_us{container_name="main",node="n",pod_name="web-0",pod_namespace="shop"} 250000
# HELP koordlet_pod_core_sched_cookie The cookie of a pod under core scheduling; always 1.
# TYPE koordlet_pod_core_sched_cookie gauge
koordlet_pod_core_sched_cookie{core_sched_cookie="77",core_sched_group="web",node="n",pod_name="web-0",pod_namespace="shop"} 1
# HELP koordlet_pod_cpi Cycles per instruction of a pod, as last measured.
# TYPE koordlet_pod_cpi gauge
koordlet_pod_cpi{node="n",pod_name="web-0",pod_namespace="shop"} 1.5
# HELP koordlet_pod_psi Percentage of the time in which tasks of a pod waited.
# TYPE koordlet_pod_psi gauge
koordlet_pod_psi{node="n",pod_name="web-0",pod_namespace="shop",pod_uid="u",psi_degree="some",psi_precision="avg10",psi_resource_type="mem"} 12.5
# HELP koordlet_resctrl_llc_occupancy Bytes of the last-level cache that a group has filled.
# TYPE koordlet_resctrl_llc_occupancy gauge
koordlet_resctrl_llc_occupancy{group="BE",node="n"} 4096
# HELP koordlet_resctrl_memory_bandwidth Bytes per second between the cache and memory, of a group.
# TYPE koordlet_resctrl_memory_bandwidth gauge
koordlet_resctrl_memory_bandwidth{group="BE",node="n",type="total"} 2e+06
`
	if err := testutil.CollectAndCompare(collector, strings.NewReader(want), "koordlet_container_scaled_cfs_quota_us", "koordlet_pod_core_sched_cookie", "koordlet_pod_cpi",
		"koordlet_pod_psi", "koordlet_resctrl_llc_occupancy", "koordlet_resctrl_memory_bandwidth"); err != nil {
		t.Error(err)
	}
}
