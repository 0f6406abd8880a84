package rebalance

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"koordinator.sh/koord/decision/descheduling/loopguard"
)

// overutilized is a node of 90 % with one pod of 20 %, and a node with room.
func overutilized(change func(*world)) *world {
	w := newWorld()
	hot := w.node(70, 40)
	w.node(30, 30)
	w.pod(hot, 20, 10)
	if change != nil {
		change(w)
	}
	return w
}

// history of the only pod's workload.
func (w *world) left(ago time.Duration, from, to string) {
	w.History = append(w.History, loopguard.Move{Workload: w.Workloads[0].Key, From: from, To: to, At: w.Now.Add(-ago)})
}

func TestDecide(t *testing.T) {
	migrate := []Step{{Remedy: Migrate, Node: 0, Pod: 0, Target: 1}}
	tests := map[string]struct {
		change     func(*world)
		want       []Step
		wantReason Reason
	}{
		"a pod leaves an overutilized node": {want: migrate},
		"no step for a load that is spread": {change: func(w *world) { w.Nodes[0].Usage, w.Nodes[1].Usage = []float64{40, 40}, []float64{40, 40} }},
		"best-effort pods are held back before anything is moved": {
			change: func(w *world) { w.Nodes[0].Reclaimable, w.Args.VarianceWeight = []float64{30, 0}, new(0.0) },
			want:   []Step{{Remedy: HoldBack, Node: 0, Pod: -1, Target: -1, Amount: []float64{15, 0}}},
		},
		"and a pod is moved if that is not enough": {
			change: func(w *world) { w.Nodes[0].Reclaimable, w.Args.VarianceWeight = []float64{5, 0}, new(0.0) },
			want:   append([]Step{{Remedy: HoldBack, Node: 0, Pod: -1, Target: -1, Amount: []float64{5, 0}}}, migrate...),
		},
		"a rollout freezes the pod": {
			change: func(w *world) { w.Workloads[0].Freeze = Rollout }, wantReason: Frozen,
		},
		"a scale-down removes the pod that would move": {
			change: func(w *world) { w.Workloads[0].Freeze = ScaleDown },
			want:   []Step{{Remedy: DeletionCost, Node: 0, Pod: 0, Target: -1, DeletionCost: -35}},
		},
		"a protected pod stays": {
			change: func(w *world) { w.Pods[0].Protected = "pod has local storage" }, wantReason: NotEvictable,
		},
		"a bare pod stays": {
			change: func(w *world) { w.Pods[0].Workload = -1 }, wantReason: NoWorkload,
		},
		"a pod without known usage stays": {
			change: func(w *world) { w.Pods[0].Usage = nil }, wantReason: UsageUnknown,
		},
		"a pod of which the usage is not a number stays": {
			change: func(w *world) { w.Pods[0].Usage = []float64{math.NaN(), 10} }, wantReason: UsageUnknown,
		},
		"a pod that was moved half an hour ago stays": {
			change: func(w *world) {
				w.left(30*time.Minute, "node-9", "node-0")
				w.Pods[0].Started = noon.Add(-29 * time.Minute)
			}, wantReason: CoolingDown,
		},
		"a pod that was moved an hour ago may move": {
			change: func(w *world) {
				w.left(time.Hour, "node-9", "node-0")
				w.Pods[0].Started = noon.Add(-59 * time.Minute)
			}, want: migrate,
		},
		"a pod that was moved stays when another of its workload comes": {
			change: func(w *world) {
				w.left(30*time.Minute, "node-9", "node-0")
				w.left(10*time.Minute, "node-8", "node-0")
				w.Pods[0].Started = noon.Add(-29 * time.Minute)
			}, wantReason: CoolingDown,
		},
		"another pod of its workload was moved to its node": {
			change: func(w *world) { w.left(30*time.Minute, "node-9", "node-0") }, want: migrate,
		},
		"a workload does not return to a node that it left": {
			change: func(w *world) { w.left(5*time.Hour, "node-1", "node-8") }, wantReason: ReturnsToNode,
		},
		"it may after a day": {
			change: func(w *world) { w.left(25*time.Hour, "node-1", "node-8") }, want: migrate,
		},
		"a workload that went in circles is stopped": {
			change: func(w *world) {
				w.left(5*time.Hour, "node-7", "node-8")
				w.left(4*time.Hour, "node-8", "node-7")
			}, wantReason: Looping,
		},
		"a job that ends in a minute stays": {
			change: func(w *world) { w.Pods[0].Remaining, w.Args.CostWeight = new(time.Minute), new(0.01) }, wantReason: EndsSoon,
		},
		"a job with hours left moves": {
			change: func(w *world) { w.Pods[0].Remaining, w.Args.CostWeight = new(3*time.Hour), new(0.01) }, want: migrate,
		},
		"a pod that costs more than its move gains stays": {
			change: func(w *world) { w.Pods[0].Restart = 24 * time.Hour }, wantReason: GainBelowCost,
		},
		"a target that would come too close to the threshold": {
			change: func(w *world) { w.Nodes[1].Usage[0] = 51 }, wantReason: NoTarget,
		},
		"a target that would come too close to the scheduler's threshold": {
			change: func(w *world) { w.Nodes[1].Limit = []float64{0.54, 0} }, wantReason: NoTarget,
		},
		"a cordoned target": {
			change: func(w *world) { w.Nodes[1].Unschedulable = true }, wantReason: NoTarget,
		},
		"a target of which the load is not known": {
			change: func(w *world) { w.Nodes[1].Usage = nil }, wantReason: NoTarget,
		},
		"a target with a negative load": {
			change: func(w *world) { w.Nodes[1].Usage[0] = -1 }, wantReason: NoTarget,
		},
		"a target that the scheduler refuses": {
			change: func(w *world) {
				w.Feasible = func(int, int, []Move) (string, bool) { return "node(s) had untolerated taint(s)", false }
			}, wantReason: NoTarget,
		},
		"a pod that is being moved": {
			change: func(w *world) {
				w.Pending, w.Args.VarianceWeight = []Move{{Pod: 0, From: 0, To: 1}}, new(1.0)
			}, wantReason: BeingMoved,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			w := overutilized(test.change)
			var trace Trace
			plan := Decide(w.Input, &trace)
			if diff := cmp.Diff(test.want, plan.Steps, cmpopts.EquateApprox(0, 1e-9)); diff != "" {
				t.Errorf("steps (-want +got):\n%s", diff)
			}
			var reason Reason
			if len(trace.Skipped) > 0 {
				reason = trace.Skipped[0].Reason
			}
			if reason != test.wantReason {
				t.Errorf("not moved because of %q, want %q", reason, test.wantReason)
			}
		})
	}
}

func TestTheTraceHasTheNumbersOfAMove(t *testing.T) {
	w := overutilized(func(w *world) {
		w.node(35, 35)
		w.Feasible = func(_, node int, _ []Move) (string, bool) { return "node(s) had untolerated taint(s)", node == 2 }
	})
	var trace Trace
	plan := Decide(w.Input, &trace)
	if diff := cmp.Diff([]Step{{Remedy: Migrate, Node: 0, Pod: 0, Target: 2}}, plan.Steps); diff != "" {
		t.Fatalf("steps (-want +got):\n%s", diff)
	}
	move := trace.Moves[0]
	if move.Before-move.After < move.Required || move.Cost != 1 {
		t.Errorf("the potential falls from %v to %v at a cost of %v, required is %v", move.Before, move.After, move.Cost, move.Required)
	}
	if len(move.Runners) != 1 || move.Runners[0].Node != "node-1" || move.Runners[0].Why != "node(s) had untolerated taint(s)" {
		t.Errorf("other targets %+v, want node-1 with the reason of the scheduler", move.Runners)
	}
	if want := "1 pod is moved"; trace.Message(plan) != want {
		t.Errorf("message %q, want %q", trace.Message(plan), want)
	}
}

func TestALoopBecomesAFinding(t *testing.T) {
	w := overutilized(func(w *world) {
		w.left(5*time.Hour, "node-7", "node-8")
		w.left(4*time.Hour, "node-8", "node-7")
	})
	plan := Decide(w.Input, nil)
	if len(plan.Loops) != 1 || plan.Loops[0].Code != "KOORD1501" {
		t.Errorf("loops %+v, want KOORD1501", plan.Loops)
	}
}

func TestNodeFitFollowsTheMoves(t *testing.T) {
	node := func(name string) *corev1.Node {
		return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}, Status: corev1.NodeStatus{
			Allocatable: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("4"), corev1.ResourcePods: resource.MustParse("10")},
		}}
	}
	pod := func(name, on string) *corev1.Pod {
		return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.PodSpec{NodeName: on, Containers: []corev1.Container{
			{Name: "main", Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("3")}}},
		}}}
	}
	on := []int{0, 1}
	fits := NodeFit([]*corev1.Node{node("a"), node("b"), node("c")}, []*corev1.Pod{pod("p", "a"), pod("q", "b")}, func(i int) int { return on[i] })
	if reason, ok := fits(0, 1, nil); ok || reason != "Insufficient cpu" {
		t.Errorf("p fits on b beside q: %t, %q", ok, reason)
	}
	if reason, ok := fits(0, 2, nil); !ok {
		t.Errorf("p does not fit on an empty node: %s", reason)
	}
	moved := []Move{{Pod: 1, From: 1, To: 2}}
	if reason, ok := fits(0, 1, moved); !ok {
		t.Errorf("p does not fit on b after q left it: %s", reason)
	}
	if _, ok := fits(0, 2, moved); ok {
		t.Error("p fits on c beside q, which was moved there")
	}
}
