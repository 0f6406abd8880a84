package overcommit

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"koordinator.sh/koord/api/configuration"
	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/decision/core/configmerge"
)

// configured is n1 under a configuration that came through the layers.
func configured(t *testing.T, text string, changes ...func(*NodeInput)) NodeInput {
	t.Helper()
	config, _ := configmerge.Parse(map[string]string{configuration.ColocationConfigKey: text})
	in := n1(changes...)
	in.Strategy = config.Colocation(in.Node)
	return in
}

func TestExplainNodeNamesEverySource(t *testing.T) {
	in := configured(t, `{"enable": true, "cpuReclaimThresholdPercent": 65}`, annotated(extension.AnnotationNodeReservation, `{"reservedCPUs":"0-19"}`))
	in.Node.Status.Allocatable[extension.BatchCPU] = *quantity(11_500)
	in.LastSync = noon.Add(-time.Minute)
	got := ExplainNode(in, diagnosticsv1alpha1.NodeExplanationSpec{NodeName: "test-node", Resources: []string{"batch-cpu"}, MaxParts: new(int32(1))})
	observed := in.Metric.Status.UpdateTime
	nodeRef := func(field string) *diagnosticsv1alpha1.SourceRef {
		return &diagnosticsv1alpha1.SourceRef{Kind: "Node", Name: "test-node", Field: field}
	}
	metricRef := func(field string) *diagnosticsv1alpha1.SourceRef {
		return &diagnosticsv1alpha1.SourceRef{Kind: "NodeMetric", Name: "test-node", Field: field}
	}
	reservation := nodeRef("metadata.annotations[node.koordinator.sh/reservation]")
	want := []diagnosticsv1alpha1.Waterfall{{
		Resource: "kubernetes.io/batch-cpu", Unit: "milliCPU", Policy: "usage", Result: 12_000,
		Terms: []term{
			{Name: "capacity", Operator: "start", Value: 100_000, Unit: "milliCPU", Source: nodeRef("status.capacity.cpu")},
			{Name: "safetyMargin", Operator: "minus", Value: 35_000, Unit: "milliCPU", Note: "65% of the capacity may be used",
				Source: &diagnosticsv1alpha1.SourceRef{Kind: "ConfigMap", Namespace: "koordinator-system", Name: "slo-controller-config",
					Field: "data[colocation-config].cpuReclaimThresholdPercent"}},
			{Name: "systemUsed", Operator: "minus", Value: 20_000, Unit: "milliCPU", Source: reservation, Note: "reserved; the system uses less",
				Parts: []term{
					{Name: "systemUsage", Operator: "start", Value: 7_000, Unit: "milliCPU", Source: metricRef("status.nodeMetric.systemUsage.resources.cpu"), ObservedAt: observed},
					{Name: "kubeletReserved", Operator: "max", Unit: "milliCPU", Source: nodeRef("status.allocatable.cpu"), Note: "capacity - allocatable"},
					{Name: "annotationReserved", Operator: "max", Value: 20_000, Unit: "milliCPU", Source: reservation},
				}},
			{Name: "podsUsed", Operator: "minus", Value: 33_000, Unit: "milliCPU", Source: metricRef("status.podsMetric[].podUsage.resources.cpu"),
				ObservedAt: observed, Note: "usage of pods above batch", PartsOmitted: 1,
				Parts: []term{{Name: "test/podC", Operator: "plus", Value: 22_000, Unit: "milliCPU",
					Source: metricRef("status.podsMetric[2].podUsage.resources.cpu"), Object: &diagnosticsv1alpha1.SourceRef{Kind: "Pod", Namespace: "test", Name: "podC"},
					ObservedAt: observed}}},
			{Name: "floor", Operator: "max", Unit: "milliCPU", Note: "not below 0"},
			{Name: "result", Operator: "result", Value: 12_000, Unit: "milliCPU"},
		},
		Message: "batchAllocatable[CPU(Milli-Core)]:12000 = nodeCapacity:100000 - nodeSafetyMargin:35000 - systemUsageOrNodeReserved:20000 - podHPUsed:33000",
	}}
	if diff := cmp.Diff(want, got.Waterfalls); diff != "" {
		t.Errorf("waterfalls (-want +got):\n%s", diff)
	}
	wantPublished := []diagnosticsv1alpha1.PublishedResource{{Resource: "kubernetes.io/batch-cpu", Unit: "milliCPU",
		Published: new(int64(11_500)), Computed: new(int64(12_000)), State: diagnosticsv1alpha1.WithinThreshold,
		Reason: "differs by 4.35%, within resourceDiffThreshold (10%); written within 4m0s"}}
	if diff := cmp.Diff(wantPublished, got.Published); diff != "" {
		t.Errorf("published (-want +got):\n%s", diff)
	}
	wantSummary := "Node test-node offers 12 cores of batch-cpu; batch-cpu is 100 cores - 35 cores (safety margin) - 20 cores (used by the system) - 33 cores (used by pods above batch)."
	if got.Summary != wantSummary {
		t.Errorf("summary %q, want %q", got.Summary, wantSummary)
	}
	if *got.Node.Pods != 3 || got.Metric.State != diagnosticsv1alpha1.MetricFresh || len(got.Findings) > 0 || len(got.Incomplete) > 0 {
		t.Errorf("%d pods, %s, findings %v, incomplete %v; want 3 pods, Fresh, and nothing else", *got.Node.Pods, got.Metric.State, got.Findings, got.Incomplete)
	}
}

func TestExplainNodeSaysWhatIsWrong(t *testing.T) {
	old := func(in *NodeInput) { in.Metric.Status.UpdateTime = &metav1.Time{Time: noon.Add(-20 * time.Minute)} }
	tests := []struct {
		name        string
		in          NodeInput
		spec        diagnosticsv1alpha1.NodeExplanationSpec
		wantSummary string
		wantCodes   []string
		// wantState of batch-cpu.
		wantState      diagnosticsv1alpha1.SyncState
		wantIncomplete string
	}{
		{name: "too old", in: configured(t, `{"enable": true}`, old), wantCodes: []string{"KOORD0102"}, wantState: diagnosticsv1alpha1.Withdrawn,
			wantSummary: "offers no batch or mid resources: the NodeMetric is 20m old and expires after 15m."},
		{name: "stale", in: configured(t, `{"enable": true}`, func(in *NodeInput) { in.Metric.Status.UpdateTime = &metav1.Time{Time: noon.Add(-5 * time.Minute)} }),
			wantCodes: []string{"KOORD0101"}, wantState: diagnosticsv1alpha1.NotPublished, wantSummary: "offers 20 cores of batch-cpu"},
		{name: "absent", in: configured(t, `{"enable": true}`, func(in *NodeInput) { in.Metric = nil }), wantCodes: []string{"KOORD0103"},
			wantState: diagnosticsv1alpha1.Withdrawn, wantSummary: "the node has no measurements."},
		{name: "impossible", in: configured(t, `{"enable": true}`, func(in *NodeInput) { in.Metric.Status.NodeMetric.NodeUsage = usage("-1", "1") }),
			wantCodes: []string{"KOORD0104"}, wantState: diagnosticsv1alpha1.Withdrawn, wantSummary: "the NodeMetric is invalid: nodeUsage: is negative."},
		{name: "switched off and a broken key", in: configured(t, `{"enable": tru}`), wantCodes: []string{"KOORD0205", "KOORD0201"},
			wantState: diagnosticsv1alpha1.Withdrawn, wantSummary: "co-location is disabled for it."},
		{name: "an unreadable reservation", in: configured(t, `{"enable": true}`, annotated(extension.AnnotationNodeReservation, `{`)),
			wantCodes: []string{"KOORD0201"}, wantState: diagnosticsv1alpha1.Withdrawn, wantSummary: "node.koordinator.sh/reservation"},
		{name: "two strategies for one node", in: func() NodeInput {
			in := n1()
			in.Node.Labels = map[string]string{"a": "b"}
			config, _ := configmerge.Parse(map[string]string{configuration.ColocationConfigKey: `{"enable": true, "nodeConfigs": [
				{"name": "one", "nodeSelector": {"matchLabels": {"a": "b"}}}, {"name": "two", "nodeSelector": {}}]}`})
			in.Strategy = config.Colocation(in.Node)
			return in
		}(), wantCodes: []string{"KOORD0202"}, wantState: diagnosticsv1alpha1.NotPublished, wantSummary: "offers"},
		{name: "a resource nobody computes", in: configured(t, `{"enable": true}`), spec: diagnosticsv1alpha1.NodeExplanationSpec{Resources: []string{"batch-cpu", "gpu"}},
			wantState: diagnosticsv1alpha1.NotPublished, wantSummary: "offers", wantIncomplete: `"gpu" is not a resource`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := ExplainNode(test.in, test.spec)
			if !strings.Contains(got.Summary, test.wantSummary) {
				t.Errorf("summary %q, want %q", got.Summary, test.wantSummary)
			}
			var codes []string
			for _, finding := range got.Findings {
				codes = append(codes, finding.Code)
				if finding.Message == "" || finding.Hint == "" || finding.Object == nil || finding.Severity == "" {
					t.Errorf("finding %+v is not complete", finding)
				}
			}
			if diff := cmp.Diff(test.wantCodes, codes, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("codes (-want +got):\n%s", diff)
			}
			if got.Published[0].State != test.wantState {
				t.Errorf("batch-cpu is %s (%s), want %s", got.Published[0].State, got.Published[0].Reason, test.wantState)
			}
			if incomplete := strings.Join(got.Incomplete, ";"); !strings.Contains(incomplete, test.wantIncomplete) || (incomplete == "") != (test.wantIncomplete == "") {
				t.Errorf("incomplete %q, want %q", incomplete, test.wantIncomplete)
			}
			for _, waterfall := range got.Waterfalls {
				for _, term := range waterfall.Terms {
					if term.Source == nil && term.Note == "" && term.Operator != diagnosticsv1alpha1.Result {
						t.Errorf("%s: term %s says neither where it comes from nor why", waterfall.Resource, term.Name)
					}
				}
			}
		})
	}
}

func TestExplainNodeOfNoNode(t *testing.T) {
	got := ExplainNode(NodeInput{Now: noon}, diagnosticsv1alpha1.NodeExplanationSpec{NodeName: "ghost"})
	if !strings.Contains(got.Summary, `ghost does not exist`) || len(got.Incomplete) != 1 {
		t.Errorf("status %+v", got)
	}
}
