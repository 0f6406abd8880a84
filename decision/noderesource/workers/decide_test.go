package workers

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"koordinator.sh/koord/api/extension"
)

var now = time.Date(2026, 2, 3, 4, 5, 6, 0, time.UTC)

// cpu is an amount of batch-cpu.
func cpu(amount int64) map[corev1.ResourceName]int64 {
	return map[corev1.ResourceName]int64{extension.BatchCPU: amount}
}

// engine is an engine with a worker of 1000 for each node that is named, from 1 to 100 workers.
func engine(on ...string) Input {
	in := Input{
		Now: now, Request: cpu(1000), Current: int32(len(on)),
		Spec: Spec{Min: 1, Max: 100, Horizon: 15 * time.Minute, Up: Rate{Pods: 10, Period: time.Minute}, Down: Rate{Pods: 10, Period: time.Minute}},
	}
	for i, node := range on {
		in.Pods = append(in.Pods, Pod{Name: fmt.Sprintf("w%d", i), Node: node, Created: now.Add(time.Duration(i-100) * time.Minute), Ordinal: i, Used: -1})
	}
	return in
}

// with adds nodes.
func (in Input) with(nodes ...Node) Input {
	in.Nodes = append(in.Nodes, nodes...)
	return in
}

func (in Input) edit(change func(*Input)) Input {
	change(&in)
	return in
}

// said is the waterfall in one line, and who goes.
func said(verdict Verdict, trace *Trace) (out string) {
	for _, term := range trace.Terms {
		out += fmt.Sprintf("%s %s %d; ", term.Operator, term.Name, term.Value)
	}
	for _, candidate := range verdict.Drain {
		out += "drain " + candidate.Name + "; "
	}
	return out + "by " + verdict.LimitedBy
}

func TestTheSizeFollowsWhatNodesOffer(t *testing.T) {
	node := func(name string, free int64) Node { return Node{Name: name, Free: cpu(free)} }
	tests := map[string]struct {
		in   Input
		want string
	}{
		"as many as fit on each node": {
			engine("a").with(node("a", 2900), node("b", 1000), node("c", 999)),
			"start fitsNow 3; result desired 3; by fitsNow",
		},
		"pods that wait come first, on the node where they cost least": {
			engine("a").with(node("a", 3000), node("b", 700)).edit(func(in *Input) {
				in.Waiting = []Waiting{{Count: 2, Request: cpu(600)}, {Request: cpu(9000)}}
			}),
			"start fitsNow 3; minus waitingPods 1; result desired 2; by waitingPods",
		},
		"a waiting pod that may not have the cheap node takes another": {
			engine("a").with(node("a", 3000), node("b", 700)).edit(func(in *Input) {
				in.Waiting = []Waiting{{Request: cpu(600), Nodes: map[string]bool{"a": true}}}
			}),
			"start fitsNow 3; minus waitingPods 1; result desired 2; by waitingPods",
		},
		"what is predicted to go within the horizon does not count": {
			engine("a", "a").with(Node{Name: "a", Free: cpu(4000), Later: cpu(2500)}),
			"start fitsNow 4; minus predictedToGo 2; result desired 2; by predictedToGo",
		},
		"a rise that is predicted does not count yet": {
			engine("a").with(Node{Name: "a", Free: cpu(2000), Later: cpu(9000)}),
			"start fitsNow 2; result desired 2; by fitsNow",
		},
		"headroom is rounded in favour of others": {
			engine("a").with(node("a", 5000)).edit(func(in *Input) { in.Spec.HeadroomPercent = 10 }),
			"start fitsNow 5; minus headroom 1; result desired 4; by headroom",
		},
		"the quota caps": {
			engine("a").with(node("a", 5000)).edit(func(in *Input) { in.Quota = &Quota{Name: "sql", Fits: 2} }),
			"start fitsNow 5; min quota 2; max minReplicas 1; min maxReplicas 100; result desired 2; by quota",
		},
		"at least the minimum, though nothing fits": {
			engine("a").with(node("a", 0)),
			"start fitsNow 0; max minReplicas 1; result desired 1; by minReplicas",
		},
		"a cordoned node keeps its workers and gets none": {
			engine("a").with(Node{Name: "a", Free: cpu(5000), Closed: "its node is cordoned"}),
			"start fitsNow 1; result desired 1; by fitsNow",
		},
		"a lost node counts for nothing, and its workers go first": {
			engine("a", "b", "b").with(Node{Name: "b", Free: cpu(5000), Lost: true}, node("a", 2000)),
			"start fitsNow 2; result desired 2; drain w2; by fitsNow",
		},
		"on a node that is short, only those beyond what fits go": {
			engine("a", "b", "b", "b").with(node("a", 1000), node("b", 1000)),
			"start fitsNow 2; result desired 2; drain w3; drain w2; by fitsNow",
		},
		"workers on nodes that are short now go before those that will be": {
			engine("a", "a", "b", "b").with(node("a", 1000), Node{Name: "b", Free: cpu(2000), Later: cpu(1000)}),
			"start fitsNow 3; minus predictedToGo 1; result desired 2; drain w1; drain w3; by predictedToGo",
		},
		"workers without a node go first": {
			engine("a", "", "a").with(node("a", 2000)),
			"start fitsNow 2; result desired 2; drain w1; by fitsNow",
		},
		"the least loaded of equal workers goes first": {
			engine("a", "a", "a").with(node("a", 2000)).edit(func(in *Input) { in.Pods[0].Used, in.Pods[1].Used, in.Pods[2].Used = 700, 10, 300 }),
			"start fitsNow 2; result desired 2; drain w1; by fitsNow",
		},
		"of a StatefulSet the highest ordinals go, wherever they are": {
			engine("b", "a", "a").with(node("a", 2000)).edit(func(in *Input) { in.Spec.Ordinals = true }),
			"start fitsNow 2; result desired 2; drain w2; by fitsNow",
		},
		"those that drain already count as gone": {
			engine("a", "a", "a").with(node("a", 2000)).edit(func(in *Input) { in.Pods[0].Draining = true }),
			"start fitsNow 2; result desired 2; by fitsNow",
		},
		"workers that were never created go before any is drained": {
			engine("a", "a").with(node("a", 2000)).edit(func(in *Input) { in.Current = 4 }),
			"start fitsNow 2; result desired 2; by fitsNow",
		},
		"a PodDisruptionBudget keeps workers": {
			engine("a", "a", "a").with(node("a", 1000)).edit(func(in *Input) {
				in.Budgets = map[string]int32{"sql": 1}
				for i := range in.Pods {
					in.Pods[i].Budgets = []string{"sql"}
				}
			}),
			"start fitsNow 1; plus podDisruptionBudget 1; result desired 2; drain w2; by podDisruptionBudget",
		},
		"all batch goes in one step": {
			engine("a", "a", "b").with(node("a", 0), node("b", -500)),
			"start fitsNow 0; max minReplicas 1; result desired 1; drain w2; drain w1; by minReplicas",
		},
		"the first worker tells what workers request": {
			engine().with(node("a", 9000)).edit(func(in *Input) { in.Request = nil }),
			"start firstWorker 1; result desired 1; by firstWorker",
		},
		"one worker first where none runs": {
			engine().with(node("a", 9000)),
			"start fitsNow 9; min firstWorker 1; result desired 1; by firstWorker",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			trace := &Trace{}
			got := said(Decide(tc.in, trace), trace)
			if diff := cmp.Diff(tc.want, dropUnbinding(got, tc.want)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// dropUnbinding leaves out the bounds that a test does not name, because they change nothing.
func dropUnbinding(got, want string) string {
	for _, term := range []string{"max minReplicas 1; ", "min maxReplicas 100; "} {
		if !strings.Contains(want, term) {
			got = strings.Replace(got, term, "", 1)
		}
	}
	return got
}

func TestStepsAreModerate(t *testing.T) {
	at := func(seconds int) time.Time { return now.Add(time.Duration(seconds) * time.Second) }
	grown := func() Input { return engine("a").with(Node{Name: "a", Free: cpu(5000)}) }
	shrunk := func() Input { return engine("a", "a", "a", "a").with(Node{Name: "a", Free: cpu(2000)}) }
	tests := map[string]struct {
		in          Input
		wantDesired int32
		wantBy      string
		want        History
	}{
		"fewer are not wanted for long enough": {
			shrunk().edit(func(in *Input) { in.Spec.Down.Stabilization = 5 * time.Minute }),
			4, Stabilization, History{Trend: &Trend{Down, now, 2}},
		},
		"fewer are wanted for long enough, of which the most count": {
			shrunk().edit(func(in *Input) {
				in.Spec.Down.Stabilization, in.History.Trend = 5*time.Minute, &Trend{Down, at(-300), 3}
			}),
			3, Stabilization, History{Down: now},
		},
		"a wish for more ends the wish for fewer": {
			grown().edit(func(in *Input) {
				in.Spec.Up.Stabilization, in.History.Trend = time.Minute, &Trend{Down, at(-300), 3}
			}),
			1, Stabilization, History{Trend: &Trend{Up, now, 5}},
		},
		"steps are as far apart as configured": {
			grown().edit(func(in *Input) { in.History.Up = at(-59) }), 1, StepLimit, History{Up: at(-59), Trend: &Trend{Up, now, 5}},
		},
		"a step is as large as configured": {
			grown().edit(func(in *Input) { in.Spec.Up.Pods = 2 }), 3, StepLimit, History{Up: now},
		},
		"a last step in the future, by another clock, holds up nothing": {
			grown().edit(func(in *Input) { in.History.Up = at(100) }), 5, FitsNow, History{Up: now},
		},
		"a target below the minimum is brought there at once": {
			grown().edit(func(in *Input) {
				in.Spec.Min, in.Spec.Up = 3, Rate{Pods: 1, Period: time.Hour, Stabilization: time.Hour}
			}),
			3, StepLimit, History{Up: now},
		},
		"a target above the maximum is brought there at once": {
			shrunk().edit(func(in *Input) {
				in.Spec.Max, in.Spec.Down = 2, Rate{Pods: 1, Period: time.Hour, Stabilization: time.Hour}
			}),
			2, FitsNow, History{Down: now},
		},
		"a StatefulSet does not grow while a worker drains, for another would go": {
			grown().edit(func(in *Input) { in.Spec.Min, in.Spec.Ordinals, in.Pods[0].Draining = 0, true, true }),
			0, StepLimit, History{Trend: &Trend{Up, now, 5}},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := Decide(tc.in, nil)
			if got.Desired != tc.wantDesired || got.LimitedBy != tc.wantBy {
				t.Errorf("desired %d by %s, want %d by %s", got.Desired, got.LimitedBy, tc.wantDesired, tc.wantBy)
			}
			if diff := cmp.Diff(tc.want, got.History); diff != "" {
				t.Errorf("history (-want +got):\n%s", diff)
			}
		})
	}
}
