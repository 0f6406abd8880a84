package main

import (
	"testing"

	"koordinator.sh/koord/decision/descheduling/rebalance"
)

// TestASmallClusterIsSpread is the benchmark on a fifth of the nodes, with generated loads. So few nodes have less to spread, and less is
// asked for than of all 200.
func TestASmallClusterIsSpread(t *testing.T) {
	if testing.Short() {
		t.Skip("simulates a day three times")
	}
	recorded, err := recordings("", 1)
	if err != nil {
		t.Fatal(err)
	}
	d := newDay(recorded, 40, 0.38, 2.6, 1)
	u, err := newUpstream(d, 1, 45, 75)
	if err != nil {
		t.Fatal(err)
	}
	none, upstream, planner := run("none", d, nil), run("LowNodeLoad", d, u), run("planned", d, newPlanned(d, rebalance.DefaultArgs()))
	t.Logf("%+v\n%+v\n%+v", none, upstream, planner)
	if upstream.moves == 0 || upstream.p95 >= none.p95 {
		t.Error("LowNodeLoad does nothing; the comparison says nothing")
	}
	if planner.p95 > 0.75*none.p95 || planner.p95 > upstream.p95 {
		t.Errorf("p95 of the node load %.1f%%, want at most three quarters of %.1f%% and no more than LowNodeLoad's %.1f%%", 100*planner.p95, 100*none.p95, 100*upstream.p95)
	}
	if planner.mostInHour > 1 || planner.returns > 0 || planner.loops > 0 {
		t.Errorf("a pod moves %d times in an hour, %d moves and %d workloads go back", planner.mostInHour, planner.returns, planner.loops)
	}
}

func TestADayIsTheSameForTheSameSeed(t *testing.T) {
	recorded, err := recordings("", 3)
	if err != nil {
		t.Fatal(err)
	}
	a, b := newDay(recorded, 20, 0.4, 2, 5), newDay(recorded, 20, 0.4, 2, 5)
	first, second := run("none", a, nil), run("none", b, nil)
	if first != second {
		t.Errorf("%+v and %+v", first, second)
	}
	mean := 0.0
	for _, pod := range a.pods {
		for _, used := range pod.cpu {
			mean += float64(used)
		}
	}
	if mean /= 20 * nodeCPU * stepsPerDay; mean < 0.35 || mean > 0.401 {
		t.Errorf("mean load %.3f, want 0.4 less what is above the limits", mean)
	}
}
