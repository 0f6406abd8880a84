package allocation

import (
	"fmt"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"pgregory.net/rapid"
)

// The test's ledger is the sum of an annotation, on top of what the node offers.
const key = "units"

type counted struct{ folds, reads int }

func (c *counted) rules() Rules[int, int, int] {
	return Rules[int, int, int]{
		Read: func(pod *corev1.Pod) (int, bool) {
			c.reads++
			units, err := strconv.Atoi(pod.Annotations[key])
			return units, err == nil
		},
		Build: func(_ *corev1.Node, offer int, held []Holding[int]) int {
			c.folds++
			for _, holding := range held {
				offer += holding.Allocation
			}
			return offer
		},
	}
}

func podOf(name, units string) *corev1.Pod {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default", UID: types.UID(name)}}
	if units != "" {
		pod.Annotations = map[string]string{key: units}
	}
	return pod
}

func nodeWith(pods ...*corev1.Pod) fwk.NodeInfo {
	info := framework.NewNodeInfo(pods...)
	info.SetNode(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n"}})
	return info
}

func add(t testing.TB, info fwk.NodeInfo, pod *corev1.Pod) {
	t.Helper()
	podInfo, err := framework.NewPodInfo(pod)
	if err != nil {
		t.Fatal(err)
	}
	info.AddPodInfo(podInfo)
}

func TestLedgersFollowTheNodeInfo(t *testing.T) {
	count := &counted{}
	allocations := NewCache(count.rules())
	node := nodeWith(podOf("a", "2"), podOf("b", "3"), podOf("c", ""))
	check := func(when string, info fwk.NodeInfo, offer, want int) {
		t.Helper()
		if got := allocations.Of(info, offer); got != want {
			t.Errorf("%s: %d, want %d", when, got, want)
		}
	}
	check("as it is", node, 10, 15)
	check("when the node offers more", node, 20, 25)
	simulated := node.Snapshot()
	if err := simulated.RemovePod(klog.Background(), podOf("b", "3")); err != nil {
		t.Fatal(err)
	}
	check("with a pod taken off in a simulation", simulated, 20, 22)
	check("afterwards, as it is", node, 20, 25)
	folds, reads := count.folds, count.reads
	check("asked again", node, 20, 25)
	if count.folds != folds {
		t.Error("an unchanged node was folded again")
	}
	add(t, node, podOf("d", "1"))
	check("with one pod more", node, 20, 26)
	if count.reads-reads > 2 { // the new pod, and the one that holds nothing
		t.Errorf("%d annotations were read again for one new pod", count.reads-reads)
	}
}

func TestReservationsCountUntilThePodIsGone(t *testing.T) {
	allocations := NewCache((&counted{}).rules())
	assumed := podOf("a", "")
	node := nodeWith(assumed)
	check := func(when string, want int) {
		t.Helper()
		if got := allocations.Of(node, 0); got != want {
			t.Errorf("%s: %d, want %d", when, got, want)
		}
	}
	check("assumed, not reserved", 0)
	allocations.Reserve("n", assumed, 4)
	check("reserved, at the same generation of the node", 4)
	allocations.Unreserve(assumed.UID)
	check("unreserved", 0)

	allocations.Reserve("n", assumed, 4)
	bound := podOf("a", "5")
	bound.Spec.NodeName = "n"
	handler := allocations.PodHandler()
	handler.OnUpdate(assumed, podOf("a", "5"))
	check("annotated, not bound", 4)
	handler.OnUpdate(assumed, bound)
	check("bound, in a snapshot from before", 5)
	node = nodeWith(bound)
	check("bound", 5)
	handler.OnDelete(bound)
	if _, found := allocations.Reserved("a"); found {
		t.Error("the pod is gone, and the reservation stayed")
	}

	allocations.Reserve("n", podOf("old", ""), 1)
	handler.OnUpdate(podOf("old", ""), podOf("new", ""))
	if _, found := allocations.Reserved("old"); found {
		t.Error("another pod has the name, and the reservation of the old one stayed")
	}

	allocations.Reserve("n", podOf("x", ""), 1)
	handler.OnDelete(cache.DeletedFinalStateUnknown{Key: "default/x", Obj: podOf("x", "")})
	if _, found := allocations.Reserved("x"); found {
		t.Error("the pod is gone, and the reservation stayed")
	}
}

func TestOnlyReservePodsMayHoldNothingMore(t *testing.T) {
	for name, test := range map[string]struct {
		handler   func(*Cache[int, int, int]) cache.ResourceEventHandler
		wantHolds bool
	}{
		"pod":         {(*Cache[int, int, int]).PodHandler, true},
		"reserve pod": {(*Cache[int, int, int]).ReservePodHandler, false},
	} {
		allocations := NewCache((&counted{}).rules())
		allocations.Reserve("n", podOf("a", "4"), 4)
		before, after := podOf("a", "4"), podOf("a", "")
		before.Spec.NodeName, after.Spec.NodeName = "n", "n"
		test.handler(allocations).OnUpdate(before, after)
		if _, holds := allocations.Reserved("a"); holds != test.wantHolds {
			t.Errorf("a %s that says nothing any more holds something: %v, want %v", name, holds, test.wantHolds)
		}
	}
}

func TestGoneNodesLeaveNothing(t *testing.T) {
	allocations := NewCache((&counted{}).rules())
	allocations.Of(nodeWith(), 1)
	allocations.Reserve("n", podOf("a", ""), 1)
	allocations.NodeHandler().OnDelete(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n"}})
	if _, found := allocations.digests.Load("n"); found || len(allocations.versions) != 0 {
		t.Error("a gone node is remembered")
	}
}

// TestCachedLedgersEqualFreshOnes runs random histories and compares every answer with that of a Cache without a past.
func TestCachedLedgersEqualFreshOnes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		allocations := NewCache((&counted{}).rules())
		node := nodeWith()
		pods := map[string]*corev1.Pod{}
		reserved := map[string]int{}
		for step := range rapid.IntRange(1, 30).Draw(t, "steps") {
			name := fmt.Sprint("p", rapid.IntRange(0, 4).Draw(t, "pod"))
			switch pod := pods[name]; rapid.IntRange(0, 3).Draw(t, "action") {
			case 0:
				if pod == nil {
					pods[name] = podOf(name, rapid.SampledFrom([]string{"", "1", "7"}).Draw(t, "units"))
					podInfo, _ := framework.NewPodInfo(pods[name])
					node.AddPodInfo(podInfo)
				}
			case 1:
				if pod != nil {
					_ = node.RemovePod(klog.Background(), pod)
					delete(pods, name)
				}
			case 2:
				if pod != nil {
					allocations.Reserve("n", pod, step)
					reserved[name] = step
				}
			case 3:
				allocations.Unreserve(types.UID(name))
				delete(reserved, name)
			}
			fresh := NewCache((&counted{}).rules())
			for name, units := range reserved {
				fresh.Reserve("n", podOf(name, ""), units)
			}
			if diff := cmp.Diff(fresh.Of(node, 0), allocations.Of(node, 0)); diff != "" {
				t.Fatalf("after step %d (-fresh +cached):\n%s", step, diff)
			}
		}
	})
}

func BenchmarkUnchangedNode(b *testing.B) {
	allocations := NewCache((&counted{}).rules())
	node := nodeWith(podOf("a", "2"))
	b.ReportAllocs()
	for b.Loop() {
		allocations.Of(node, 0)
	}
}
