package noderesource

import (
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	clocktesting "k8s.io/utils/clock/testing"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/controllers/sloconfig"
)

// TestExplainerSaysWhatTheControllerWrites holds the answer against the controller over the same objects.
func TestExplainerSaysWhatTheControllerWrites(t *testing.T) {
	config := store(t, enabled)
	h := newHarness(t, config, testNode(nil), testMetric(time.Minute), testPod())
	explainer := NewExplainer(h.client, config, clocktesting.NewFakePassiveClock(noon), types.NamespacedName{})
	status, err := explainer.ExplainNode(t.Context(), diagnosticsv1alpha1.NodeExplanationSpec{NodeName: "node-a"})
	if err != nil {
		t.Fatal(err)
	}
	if got := status.Waterfalls[0].Result; got != 47_000 || status.Published[0].State != diagnosticsv1alpha1.NotPublished {
		t.Errorf("batch-cpu %d, %s; want 47000, NotPublished", got, status.Published[0].State)
	}
	h.run(t)
	status, err = explainer.ExplainNode(t.Context(), diagnosticsv1alpha1.NodeExplanationSpec{NodeName: "node-a"})
	if err != nil {
		t.Fatal(err)
	}
	for _, published := range status.Published {
		if published.State != diagnosticsv1alpha1.InSync {
			t.Errorf("%s is %s after the controller wrote: %s", published.Resource, published.State, published.Reason)
		}
	}
}

func TestExplainerOfWhatIsNotThere(t *testing.T) {
	h := newHarness(t, sloconfig.NewStore(), testNode(nil))
	explainer := NewExplainer(h.client, h.config, clocktesting.NewFakePassiveClock(noon), types.NamespacedName{})
	if _, err := explainer.ExplainNode(t.Context(), diagnosticsv1alpha1.NodeExplanationSpec{NodeName: "ghost"}); !apierrors.IsNotFound(err) {
		t.Errorf("error %v, want NotFound", err)
	}
	status, err := explainer.ExplainNode(t.Context(), diagnosticsv1alpha1.NodeExplanationSpec{NodeName: "node-a"})
	if err != nil || len(status.Incomplete) != 1 {
		t.Errorf("status %+v, error %v; want one thing incomplete", status, err)
	}
}
