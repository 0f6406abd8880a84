package loadaware

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/extension"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
)

func TestNodeLoad(t *testing.T) {
	old := newMetric("cpu", "1")
	old.Status.UpdateTime.Time = now.Add(-10 * time.Minute)
	prod := newMetric("cpu", "50", "memory", "1Gi")
	prod.Status.PodsMetric = []*slov1alpha1.PodMetricInfo{reported("web", extension.PriorityProd, "cpu", "50")}
	absurd := newMetric("cpu", "10", "memory", "1Gi")
	absurd.Status.PodsMetric = []*slov1alpha1.PodMetricInfo{reported("web", extension.PriorityProd, "cpu", "-1")}
	prodArgs := &Args{ProdUsageThresholds: map[corev1.ResourceName]int64{"cpu": 40}}
	tests := []struct {
		name        string
		args        *Args
		metric      *slov1alpha1.NodeMetric
		wantState   diagnosticsv1alpha1.LoadState
		wantMessage string
	}{
		{"an idle node", nil, newMetric("cpu", "10", "memory", "1Gi"), diagnosticsv1alpha1.LoadNormal, ""},
		{"a node at its threshold", nil, newMetric("cpu", "62400m", "memory", "1Gi"), diagnosticsv1alpha1.LoadNormal, ""},
		{"a busy node", nil, newMetric("cpu", "70", "memory", "1Gi"), diagnosticsv1alpha1.LoadHot, "cpu usage 73% > threshold 65%"},
		{"a node that is busy for prod pods", prodArgs, prod, diagnosticsv1alpha1.LoadHot, "prod cpu usage 52% > threshold 40%"},
		{"a node with an impossible pod", nil, absurd, diagnosticsv1alpha1.LoadUnknown, "NodeMetric is invalid: podUsage of default/web has a negative cpu"},
		{"a node whose agent is gone", nil, old, diagnosticsv1alpha1.LoadExpired, "NodeMetric is 10m0s old, expired after 3m0s"},
		{"a node without NodeMetric", nil, nil, diagnosticsv1alpha1.LoadUnknown, "no NodeMetric"},
		{"a node with an impossible NodeMetric", nil, newMetric("cpu", "-1"), diagnosticsv1alpha1.LoadUnknown, "NodeMetric is invalid: nodeUsage has a negative cpu"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := NodeLoad(newNode(), test.metric, test.args, now)
			if got.State != test.wantState || got.Message != test.wantMessage {
				t.Errorf("load %s %q, want %s %q", got.State, got.Message, test.wantState, test.wantMessage)
			}
			got.Operands = nil
			if diff := cmp.Diff(got, NewPolicy(test.args).NodeLoad(newNode(), test.metric, now, false)); diff != "" {
				t.Errorf("without operands (-with +without):\n%s", diff)
			}
		})
	}
}

func TestNodeLoadSaysThatAnAnnotationIsIgnored(t *testing.T) {
	node := newNode()
	node.Annotations = map[string]string{extension.AnnotationCustomUsageThresholds: `{"usageThresholds":{"cpu":650}}`}
	got := NodeLoad(node, newMetric("cpu", "10", "memory", "1Gi"), nil, now)
	want := `the node's own thresholds are ignored: annotation "scheduling.koordinator.sh/usage-thresholds": threshold 650 of "cpu" is not between 0 and 100`
	if got.State != diagnosticsv1alpha1.LoadNormal || got.Message != want {
		t.Errorf("load %s %q, want Normal %q", got.State, got.Message, want)
	}
}

func TestNodeLoadOperandsNameTheirSources(t *testing.T) {
	metric := newMetric("cpu", "70", "memory", "1Gi")
	got := map[string]diagnosticsv1alpha1.Term{}
	for _, term := range NodeLoad(newNode(), metric, nil, now).Operands {
		got[term.Name] = term
	}
	want := map[string]diagnosticsv1alpha1.Term{
		"cpuUsage": {Name: "cpuUsage", Operator: "info", Value: 73, Unit: "percent", ObservedAt: metric.Status.UpdateTime, Note: "of raw allocatable",
			Source: &diagnosticsv1alpha1.SourceRef{Kind: "NodeMetric", Name: "node-1", Field: "status.nodeMetric.nodeUsage"}},
		"cpuUsed": {Name: "cpuUsed", Operator: "info", Value: 70000, Unit: "milliCPU", ObservedAt: metric.Status.UpdateTime,
			Source: &diagnosticsv1alpha1.SourceRef{Kind: "NodeMetric", Name: "node-1", Field: "status.nodeMetric.nodeUsage"}},
		"cpuThreshold": {Name: "cpuThreshold", Operator: "info", Value: 65, Unit: "percent",
			Source: &diagnosticsv1alpha1.SourceRef{Kind: Kind, Field: "usageThresholds"}},
		"cpuCapacity": {Name: "cpuCapacity", Operator: "info", Value: 96000, Unit: "milliCPU", Note: "raw allocatable",
			Source: &diagnosticsv1alpha1.SourceRef{Kind: "Node", Name: "node-1", Field: "status.allocatable"}},
	}
	for name, term := range want {
		if diff := cmp.Diff(term, got[name]); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
