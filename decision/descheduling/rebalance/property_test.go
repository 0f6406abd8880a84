package rebalance

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"koordinator.sh/koord/decision/descheduling/loopguard"
)

// potentialOf computes Phi by its definition, apart from what Decide keeps up to date.
func potentialOf(w *world) float64 { return newLoad(&w.Input).phi }

func TestThePotentialFallsWithEachMove(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := generated(t)
		for n := range w.Nodes {
			w.Nodes[n].Reclaimable = nil
		}
		w.scaleDown(mostLoad)
		plan := Decide(w.Input, nil)
		before := potentialOf(w)
		for _, move := range plan.Moves() {
			w.apply(Plan{Steps: []Step{{Remedy: Migrate, Pod: move.Pod, Node: move.From, Target: move.To}}})
			after := potentialOf(w)
			required := *w.Args.CostWeight*w.Pods[move.Pod].cost() + *w.Args.MinImprovement
			if before-after < required-1e-9 {
				t.Fatalf("moving pod %d from %d to %d changes the potential from %v to %v; it must fall by %v", move.Pod, move.From, move.To, before, after, required)
			}
			before = after
		}
		if diff := plan.After - before; diff > 1e-6 || diff < -1e-6 {
			t.Fatalf("the plan says that the potential is %v in the end, it is %v", plan.After, before)
		}
	})
}

func TestNoPodIsMovedTwiceAndBoundsHold(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := generated(t)
		plan := Decide(w.Input, nil)
		steps, leaving, arriving, moving := map[int]int{}, map[int]int64{}, map[int]int64{}, map[int]int64{}
		for _, step := range plan.Steps {
			if step.Pod >= 0 {
				if steps[step.Pod]++; steps[step.Pod] > 1 {
					t.Fatalf("pod %d has two steps in %+v", step.Pod, plan.Steps)
				}
			}
		}
		for _, move := range plan.Moves() {
			leaving[move.From]++
			arriving[move.To]++
			moving[w.Pods[move.Pod].Workload]++
			if leaving[move.From] > *w.Args.MaxMovesPerNode || arriving[move.To] > *w.Args.MaxMovesPerNode || moving[w.Pods[move.Pod].Workload] > *w.Args.MaxMovesPerWorkload {
				t.Fatalf("bounds are exceeded by %+v", plan.Steps)
			}
			pod := w.Pods[move.Pod]
			if pod.Protected != "" || w.Workloads[pod.Workload].Freeze != "" || w.Nodes[move.To].Unschedulable {
				t.Fatalf("pod %+v must not move to %+v", pod, w.Nodes[move.To])
			}
			if _, feasible := w.Feasible(move.Pod, move.To, nil); !feasible {
				t.Fatalf("pod %d is moved to node %d, which is not feasible", move.Pod, move.To)
			}
		}
		if int64(len(plan.Moves())) > *w.Args.MaxMovesPerPass {
			t.Fatalf("%d moves, at most %d are allowed", len(plan.Moves()), *w.Args.MaxMovesPerPass)
		}
	})
}

func TestTargetsStayBelowTheirLimitsWithTheMargin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := generated(t)
		for n := range w.Nodes {
			w.Nodes[n].Reclaimable = nil
		}
		plan := Decide(w.Input, nil)
		w.apply(plan)
		for _, move := range plan.Moves() {
			node := w.Nodes[move.To]
			for r, name := range w.Resources {
				limit := float64(w.Args.HighThresholds[name])
				if node.Limit != nil && node.Limit[r] > 0 {
					limit = min(limit, node.Limit[r]*100)
				}
				if node.Usage[r] > limit-float64(*w.Args.TargetMarginPercent)+1e-6 {
					t.Fatalf("node %s is a target and has %v %s, more than %v less %d", node.Name, node.Usage[r], name, limit, *w.Args.TargetMarginPercent)
				}
			}
		}
	})
}

func TestThePlanIsTheSameWithATrace(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := generated(t)
		var trace Trace
		with := Decide(w.Input, &trace)
		if diff := cmp.Diff(Decide(w.Input, nil), with); diff != "" {
			t.Fatalf("plan without a trace (-) and with one (+):\n%s", diff)
		}
		if len(trace.Moves) != len(with.Moves()) {
			t.Fatalf("%d moves are traced, want %d", len(trace.Moves), len(with.Moves()))
		}
		if trace.Message(with) == "" {
			t.Fatal("no message")
		}
	})
}

// TestRepeatedPassesReachAFixedPoint also after all moves are forgotten: nothing but the potential must keep pods from going in circles.
func TestRepeatedPassesReachAFixedPoint(t *testing.T) {
	for name, remember := range map[string]bool{"with the history": true, "without any history": false} {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				w := generated(t)
				passes := 0
				for ; passes < 200; passes++ {
					plan := Decide(w.Input, nil)
					if len(plan.Loops) > 0 {
						t.Fatalf("went in circles: %+v", plan.Loops)
					}
					if len(plan.Moves()) == 0 {
						break
					}
					w.record(plan, remember)
					w.apply(plan)
					w.Now = w.Now.Add(5 * time.Minute)
				}
				if passes == 200 {
					t.Fatal("moves do not end under a fixed load")
				}
			})
		})
	}
}

func (w *world) record(plan Plan, remember bool) {
	if !remember {
		return
	}
	for _, move := range plan.Moves() {
		w.History = append(w.History, loopguard.Move{
			Workload: w.Workloads[w.Pods[move.Pod].Workload].Key, Pod: w.Pods[move.Pod].Name,
			From: w.Nodes[move.From].Name, To: w.Nodes[move.To].Name, At: w.Now, By: loopguard.ByDescheduler,
		})
	}
}
