package diagnostics

import (
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil"
)

func TestSamplesOfFeaturesBecomeMetrics(t *testing.T) {
	pressure := PressureMetrics{Resource: "mem", Degree: "some", Percent: 12.5, OverSeconds: 10}
	collector := NewCollector(func() NodeMetrics {
		return NodeMetrics{Node: "n", Features: []Sample{
			{Metric: "pod_cpi", Value: 1.5, Labels: []string{"shop", "web-0"}},
			{Metric: "kills_total", Value: 3, Labels: []string{"main"}},
			{Metric: "pod_psi", Value: pressure.Percent, Labels: []string{"web-0", pressure.Resource, pressure.Precision(), pressure.Degree}},
		}}
	},
		Metric{Name: "pod_cpi", Help: "Cycles per instruction.", Labels: []string{"node", "pod_namespace", "pod_name"}},
		Metric{Name: "pod_psi", Help: "Percentage of time.", Labels: []string{"node", "pod_name", "psi_resource_type", "psi_precision", "psi_degree"}},
		Metric{Name: "kills_total", Help: "Processes that were killed.", Labels: []string{"node", "container"}, Counter: true},
	)
	want := `
# HELP koordlet_kills_total Processes that were killed.
# TYPE koordlet_kills_total counter
koordlet_kills_total{container="main",node="n"} 3
# HELP koordlet_pod_cpi Cycles per instruction.
# TYPE koordlet_pod_cpi gauge
koordlet_pod_cpi{node="n",pod_name="web-0",pod_namespace="shop"} 1.5
# HELP koordlet_pod_psi Percentage of time.
# TYPE koordlet_pod_psi gauge
koordlet_pod_psi{node="n",pod_name="web-0",psi_degree="some",psi_precision="avg10",psi_resource_type="mem"} 12.5
`
	if err := testutil.CollectAndCompare(collector, strings.NewReader(want), "koordlet_kills_total", "koordlet_pod_cpi", "koordlet_pod_psi"); err != nil {
		t.Error(err)
	}
}
