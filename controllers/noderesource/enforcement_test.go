package noderesource

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus/testutil"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"koordinator.sh/koord/api/extension"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	"koordinator.sh/koord/decision/noderesource/enforcement"
)

// TestAnAgentThatDoesNotEnforceHasItsOfferWithdrawn, gets one event for each reason, and gets the offer back.
func TestAnAgentThatDoesNotEnforceHasItsOfferWithdrawn(t *testing.T) {
	h := newHarness(t, store(t, enabled), testNode(nil), testMetric(time.Minute), testPod())
	const full = "Warning AgentNotEnforcing [KOORD0302] Node node-a: koordlet cannot limit best-effort pods, so no batch or mid resources are offered: "
	steps := []struct {
		name       string
		facts      enforcement.Facts
		wantOffer  bool
		wantEvents []string
		wantSeries int
	}{
		{"it enforces", enforcement.Facts{}, true, nil, 0},
		{"its disk is full", enforcement.Facts{OriginalsUnsaved: "no space left"}, false, []string{full + "OriginalsNotSaved: no space left."}, 1},
		{"in other words", enforcement.Facts{OriginalsUnsaved: "no space left on device"}, false, nil, 1},
		{"its originals are damaged", enforcement.Facts{OriginalsUnread: "checksum"}, false, []string{full + "OriginalsUnreadable: checksum."}, 1},
		{"it enforces again", enforcement.Facts{}, true, []string{"Normal AgentEnforcing koordlet can limit best-effort pods again"}, 0},
		{"it is read-only", enforcement.Facts{ReadOnly: true}, false,
			[]string{full + "ReadOnly: koordlet was started with --read-only and writes no cgroup."}, 1},
	}
	for _, step := range steps {
		metric := &slov1alpha1.NodeMetric{}
		if err := h.client.Get(t.Context(), types.NamespacedName{Name: "node-a"}, metric); err != nil {
			t.Fatal(err)
		}
		condition := enforcement.Decide(step.facts).Condition()
		condition.LastTransitionTime = metav1.NewTime(noon)
		metric.Status.Conditions = []metav1.Condition{condition}
		if err := h.client.Update(t.Context(), metric); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			h.run(t)
		}
		if diff := cmp.Diff(step.wantEvents, h.recordedEvents()); diff != "" {
			t.Errorf("%s: events (-want +got):\n%s", step.name, diff)
		}
		if got := testutil.CollectAndCount(unenforced); got != step.wantSeries {
			t.Errorf("%s: %d series, want %d", step.name, got, step.wantSeries)
		}
		var node corev1.Node
		if err := h.client.Get(t.Context(), types.NamespacedName{Name: "node-a"}, &node); err != nil {
			t.Fatal(err)
		}
		if _, offers := node.Status.Allocatable[extension.BatchCPU]; offers != step.wantOffer {
			t.Errorf("%s: batch is offered: %t, want %t", step.name, offers, step.wantOffer)
		}
	}
	forget("node-a")
}
