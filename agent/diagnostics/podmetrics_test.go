package diagnostics

import (
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil"
)

func TestFiguresOfPodsBecomeMetrics(t *testing.T) {
	collector := NewCollector(func() NodeMetrics {
		return NodeMetrics{
			Node: "n", Pressure: []PressureMetrics{{"io", "full", 2.5, 10}},
			Pods: []PodMetrics{
				{Namespace: "shop", Pod: "db", UID: "u", Throttled: new(0.25), BlockIO: &BlockIOMetrics{ReadBytes: 4096, WrittenBytes: 512, Reads: 2, Writes: 0.5}},
				{Namespace: "shop", Pod: "web", UID: "v", Throttled: new(0.0)},
				{Namespace: "shop", Pod: "new", UID: "w"},
			},
		}
	})
	want := `
# HELP koordlet_node_psi Percentage of time in which tasks of the node waited, by resource and window.
# TYPE koordlet_node_psi gauge
koordlet_node_psi{node="n",psi_degree="full",psi_precision="avg10",psi_resource_type="io"} 2.5
# HELP koordlet_pod_block_io_bytes_per_second Block I/O of a pod in bytes per second, by type.
# TYPE koordlet_pod_block_io_bytes_per_second gauge
koordlet_pod_block_io_bytes_per_second{node="n",pod_name="db",pod_namespace="shop",pod_uid="u",type="read"} 4096
koordlet_pod_block_io_bytes_per_second{node="n",pod_name="db",pod_namespace="shop",pod_uid="u",type="write"} 512
# HELP koordlet_pod_block_io_operations_per_second Block I/O of a pod in operations per second, by type.
# TYPE koordlet_pod_block_io_operations_per_second gauge
koordlet_pod_block_io_operations_per_second{node="n",pod_name="db",pod_namespace="shop",pod_uid="u",type="read"} 2
koordlet_pod_block_io_operations_per_second{node="n",pod_name="db",pod_namespace="shop",pod_uid="u",type="write"} 0.5
# HELP koordlet_pod_throttled_ratio Ratio of CFS periods in which a pod was throttled, 0 to 1.
# TYPE koordlet_pod_throttled_ratio gauge
koordlet_pod_throttled_ratio{node="n",pod_name="db",pod_namespace="shop",pod_uid="u"} 0.25
koordlet_pod_throttled_ratio{node="n",pod_name="web",pod_namespace="shop",pod_uid="v"} 0
`
	if err := testutil.CollectAndCompare(collector, strings.NewReader(want), "koordlet_node_psi", "koordlet_pod_block_io_bytes_per_second",
		"koordlet_pod_block_io_operations_per_second", "koordlet_pod_throttled_ratio"); err != nil {
		t.Error(err)
	}
}
