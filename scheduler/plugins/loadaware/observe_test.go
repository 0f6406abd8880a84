package loadaware

import (
	"fmt"
	"sync"
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

func TestOnlyTheLatestObjectOfANodeIsKept(t *testing.T) {
	f := newFixture(t, "")
	f.state.stamp = &atomic.Uint64{}
	for round := range 40 {
		for i := range 50 {
			node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("n", i), ResourceVersion: fmt.Sprint(round)}}
			if first := f.plugin.Observed(node); f.plugin.Observed(node) != first {
				t.Fatalf("node %s was digested twice", node.Name)
			}
		}
	}
	seen := f.plugin.seen
	if kept := seen.settled.Load().size + len(seen.fresh); kept > 2*50 {
		t.Errorf("%d digests are kept of 50 nodes", kept)
	}
	for i := range 50 {
		seen.forget(fmt.Sprint("n", i))
	}
	if kept := seen.settled.Load().size + len(seen.fresh) + len(seen.latest); kept != 0 {
		t.Errorf("%d digests are kept of no nodes", kept)
	}
}

func TestNodesAreObservedInParallel(t *testing.T) {
	f := newFixture(t, "")
	f.state.stamp = &atomic.Uint64{}
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			for i := range 300 {
				f.plugin.Observed(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("n", i%30)}})
			}
		})
	}
	group.Wait()
}
