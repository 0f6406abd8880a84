package loadaware

import (
	"sync/atomic"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
)

// TestDigestsFollowTheStamp looks at a node before and after everything that a digest is made from changes.
func TestDigestsFollowTheStamp(t *testing.T) {
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n"}}
	f := newFixture(t, "", node)
	f.state.stamp = &atomic.Uint64{}
	first := f.plugin.Observed(node)
	if f.plugin.Observed(node) != first {
		t.Error("an unchanged node was digested again")
	}
	f.state.stamp.Add(1)
	if f.plugin.Observed(node) != first {
		t.Error("a node whose stamp moved for nothing was digested again")
	}
	f.state.metrics["n"] = &slov1alpha1.NodeMetric{}
	f.state.stamp.Add(1)
	second := f.plugin.Observed(node)
	if second == first {
		t.Error("a new NodeMetric went unnoticed")
	}
	f.state.Unreserve(nil, "n")
	f.state.stamp.Add(1)
	third := f.plugin.Observed(node)
	if third == second {
		t.Error("a change of the assigned pods went unnoticed")
	}
	if f.plugin.Observed(node.DeepCopy()) == third {
		t.Error("a new node object went unnoticed")
	}
	f.state.stamp = nil
	f.plugin.seen.forget("n")
	fresh := f.plugin.Observed(node)
	f.state.metrics["n"] = &slov1alpha1.NodeMetric{}
	if f.plugin.Observed(node) == fresh {
		t.Error("without a stamp a new NodeMetric went unnoticed")
	}
}
