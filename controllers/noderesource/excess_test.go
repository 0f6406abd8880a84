package noderesource

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus/testutil"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	clocktesting "k8s.io/utils/clock/testing"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/controllers/sloconfig"
	"koordinator.sh/koord/decision/core/configmerge"
)

// recordedEvents drains the events.
func (h *harness) recordedEvents() []string {
	var out []string
	for {
		select {
		case event := <-h.events.Events:
			out = append(out, event)
		default:
			return out
		}
	}
}

// explained returns the findings with code KOORD0206 of an explanation of node-a.
func (h *harness) explained(t *testing.T) []diagnosticsv1alpha1.Finding {
	t.Helper()
	source := types.NamespacedName{Namespace: "koordinator-system", Name: "slo-controller-config"}
	explainer := NewExplainer(h.client, h.config, clocktesting.NewFakePassiveClock(noon), source)
	status, err := explainer.ExplainNode(t.Context(), diagnosticsv1alpha1.NodeExplanationSpec{NodeName: "node-a"})
	if err != nil {
		t.Fatal(err)
	}
	var out []diagnosticsv1alpha1.Finding
	for _, found := range status.Findings {
		if found.Code == "KOORD0206" {
			out = append(out, found)
		}
	}
	return out
}

func TestOffersBeyondTheNodeAreTold(t *testing.T) {
	const generous = `{"enable": true, "cpuReclaimThresholdPercent": 120, "memoryReclaimThresholdPercent": 65}`
	inConfigMap := &diagnosticsv1alpha1.SourceRef{
		Kind: "ConfigMap", Namespace: "koordinator-system", Name: "slo-controller-config", Field: "data[colocation-config]",
	}
	// testNode has 100 cores and 120 GB, of which the system uses 7 and 12, testPod 11 and 11.
	tests := []struct {
		name        string
		config      string
		labels      map[string]string
		age         time.Duration
		wantMessage []string
		wantObject  *diagnosticsv1alpha1.SourceRef
		wantHint    string
	}{
		{
			name: "a cpu threshold above 100% on a node that is in use", config: generous,
			wantMessage: []string{"Node node-a offers 102 cores of batch-cpu, 20 cores more than it has left: cpuReclaimThresholdPercent is 120 (cluster)."},
			wantObject:  inConfigMap, wantHint: "koordctl config edit",
		},
		{
			name: "both thresholds", config: `{"enable": true, "cpuReclaimThresholdPercent": 101, "memoryReclaimThresholdPercent": 200}`,
			wantMessage: []string{
				"Node node-a offers 83 cores of batch-cpu, 1 core more than it has left: cpuReclaimThresholdPercent is 101 (cluster).",
				"Node node-a offers 202.1Gi of batch-memory, 111.8Gi more than it has left: memoryReclaimThresholdPercent is 200 (cluster).",
			},
			wantObject: inConfigMap, wantHint: "koordctl config edit",
		},
		{
			name: "a threshold of the node's own", config: enabled, labels: map[string]string{extension.LabelCPUReclaimRatio: "1.2"},
			wantMessage: []string{"Node node-a offers 102 cores of batch-cpu, 20 cores more than it has left: cpuReclaimThresholdPercent is 120 (node label)."},
			wantObject:  &diagnosticsv1alpha1.SourceRef{Kind: "Node", Name: "node-a", Field: "metadata"}, wantHint: "kubectl edit node node-a",
		},
		{name: "a threshold of exactly 100%", config: `{"enable": true, "cpuReclaimThresholdPercent": 100, "memoryReclaimThresholdPercent": 100}`},
		{name: "a threshold below", config: enabled},
		{name: "above, but the offer is capped below what is left", config: `{"enable": true, "cpuReclaimThresholdPercent": 120, "batchCPUThresholdPercent": 50}`},
		{name: "above, but co-location is off", config: `{"enable": false, "cpuReclaimThresholdPercent": 120}`},
		{name: "above, but the measurements are too old", config: generous, age: time.Hour},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			node := testNode(nil)
			node.Labels = test.labels
			h := newHarness(t, store(t, test.config), node, testMetric(test.age+time.Minute), testPod())
			h.run(t)
			var wantEvents []string
			var want []diagnosticsv1alpha1.Finding
			for _, message := range test.wantMessage {
				wantEvents = append(wantEvents, "Warning OfferBeyondNode [KOORD0206] "+message)
				want = append(want, diagnosticsv1alpha1.Finding{
					Code: "KOORD0206", Severity: diagnosticsv1alpha1.SeverityWarning, Message: message, Hint: test.wantHint, Object: test.wantObject,
				})
			}
			if diff := cmp.Diff(wantEvents, h.recordedEvents()); diff != "" {
				t.Errorf("events (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(want, h.explained(t)); diff != "" {
				t.Errorf("findings (-want +got):\n%s", diff)
			}
			if got := testutil.CollectAndCount(beyond); got != len(test.wantMessage) {
				t.Errorf("%d series of what is beyond the node, want %d", got, len(test.wantMessage))
			}
			forget("node-a")
		})
	}
}

func TestAnExcessIsToldOnceUntilItsCauseChanges(t *testing.T) {
	configure := func(s *sloconfig.Store, text string) {
		config, problems := configmerge.Parse(map[string]string{"colocation-config": text})
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		s.Set(config)
	}
	config := sloconfig.NewStore()
	h := newHarness(t, config, testNode(nil), testMetric(time.Minute), testPod())
	steps := []struct {
		name, config string
		wantEvents   int
	}{
		{"it begins", `{"enable": true, "cpuReclaimThresholdPercent": 120}`, 1},
		{"the offer changes and its cause does not", `{"enable": true, "cpuReclaimThresholdPercent": 120, "batchCPUThresholdPercent": 95}`, 0},
		{"the threshold rises", `{"enable": true, "cpuReclaimThresholdPercent": 130}`, 1},
		{"a second resource", `{"enable": true, "cpuReclaimThresholdPercent": 130, "memoryReclaimThresholdPercent": 110}`, 1},
		{"it ends", `{"enable": true}`, 0},
		{"it begins again", `{"enable": true, "cpuReclaimThresholdPercent": 130}`, 1},
	}
	for _, step := range steps {
		configure(config, step.config)
		for range 2 {
			h.run(t)
		}
		if events := h.recordedEvents(); len(events) != step.wantEvents {
			t.Errorf("%s: events %q, want %d", step.name, events, step.wantEvents)
		}
	}
	if err := h.client.Delete(t.Context(), &corev1.Node{ObjectMeta: testNode(nil).ObjectMeta}); err != nil {
		t.Fatal(err)
	}
	h.run(t)
	if _, still := h.reported.Load("node-a"); still || testutil.CollectAndCount(beyond) != 0 {
		t.Error("the excess of a node that is gone is remembered")
	}
}
