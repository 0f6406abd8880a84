package story

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	diagnostics "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/tui/internal/style"
)

func TestOf(t *testing.T) {
	r := diagnostics.ResourceOverview{
		Capacity: 32000, Used: new(int64(12000)), SystemUsed: new(int64(1000)), ProdRequested: new(int64(23000)), ProdUsed: new(int64(6000)),
		BatchAllocatable: new(int64(14000)), BatchRequested: new(int64(9000)), BatchUsed: new(int64(5000)),
	}
	p := Of(r)
	for area, want := range map[style.Area]int64{
		style.ProdUsed: 6000, style.BatchUsed: 5000, style.BatchFree: 9000, style.System: 1000,
		style.ProdReserved: 11000, // 17000 are reserved and unused, of which batch was offered all but what is left of the capacity
	} {
		if got := p.Area[area]; got != want {
			t.Errorf("%s: got %d, want %d", area, got, want)
		}
	}
	if p.Measured != 1 || p.ProdUsed != 6000 || p.BatchOffered != 14000 {
		t.Errorf("got %+v", p)
	}
}

func TestWithoutNodeMetricNothingIsMeasured(t *testing.T) {
	if p := Of(diagnostics.ResourceOverview{Capacity: 32000, ProdRequested: new(int64(23000))}); p.Measured != 0 {
		t.Errorf("got %+v", p)
	}
}

// TestAreasNeverExceedCapacity checks that a stack of areas is no higher than the capacity, for one node and for the
// sum of several.
func TestAreasNeverExceedCapacity(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		value := func(name string) *int64 {
			if !rapid.Bool().Draw(t, name+" known") {
				return nil
			}
			return new(rapid.Int64Range(-1000, 1<<40).Draw(t, name))
		}
		var all Parts
		for range rapid.IntRange(1, 3).Draw(t, "nodes") {
			all = all.Add(Of(diagnostics.ResourceOverview{
				Capacity: rapid.Int64Range(0, 1<<40).Draw(t, "capacity"), Used: value("used"), SystemUsed: value("system"),
				ProdRequested: new(rapid.Int64Range(0, 1<<41).Draw(t, "requested")), ProdUsed: value("prod"), MidUsed: value("mid"),
				MidAllocatable: value("mid offered"), BatchAllocatable: value("offered"), BatchUsed: value("batch"),
			}))
		}
		var sum int64
		for _, v := range all.Area {
			if v < 0 {
				t.Fatalf("negative area in %+v", all)
			}
			sum += v
		}
		if sum > all.Capacity {
			t.Fatalf("areas of %d in a capacity of %d", sum, all.Capacity)
		}
	})
}

// TestAddingNodesUp takes every figure of both, in any order; nothing is the same as no node.
func TestAddingNodesUp(t *testing.T) {
	node := rapid.Custom(func(t *rapid.T) Parts {
		amount := rapid.Int64Range(0, 1<<40)
		return Of(diagnostics.ResourceOverview{
			Capacity: amount.Draw(t, "capacity"), Allocatable: amount.Draw(t, "allocatable"), Used: new(amount.Draw(t, "used")), SystemUsed: new(amount.Draw(t, "system")),
			ProdRequested: new(amount.Draw(t, "requested")), ProdUsed: new(amount.Draw(t, "prod")), Reclaimable: new(amount.Draw(t, "reclaimable")),
			BatchAllocatable: new(amount.Draw(t, "batch")), BatchRequested: new(amount.Draw(t, "batch requested")), BatchUsed: new(amount.Draw(t, "batch used")),
			MidAllocatable: new(amount.Draw(t, "mid")), MidRequested: new(amount.Draw(t, "mid requested")), MidUsed: new(amount.Draw(t, "mid used")),
		})
	})
	rapid.Check(t, func(t *rapid.T) {
		a, b, c := node.Draw(t, "a"), node.Draw(t, "b"), node.Draw(t, "c")
		if diff := cmp.Diff(a.Add(b).Add(c), c.Add(b.Add(a))); diff != "" {
			t.Fatalf("the order matters:\n%s", diff)
		}
		if diff := cmp.Diff(a, a.Add(Parts{})); diff != "" {
			t.Fatalf("nothing changes the sum:\n%s", diff)
		}
		twice := a.Add(a)
		for figure, got := range map[string][2]int64{
			"capacity": {twice.Capacity, a.Capacity}, "allocatable": {twice.Allocatable, a.Allocatable}, "used": {twice.Used, a.Used},
			"requested": {twice.ProdRequested, a.ProdRequested}, "prod": {twice.ProdUsed, a.ProdUsed}, "reclaimable": {twice.Reclaimable, a.Reclaimable},
			"batch": {twice.BatchOffered, a.BatchOffered}, "batch requested": {twice.BatchRequested, a.BatchRequested}, "batch used": {twice.BatchUsed, a.BatchUsed},
			"mid": {twice.MidOffered, a.MidOffered}, "mid requested": {twice.MidRequested, a.MidRequested},
			"nodes": {int64(twice.Nodes), int64(a.Nodes)}, "measured": {int64(twice.Measured), int64(a.Measured)}, "listed": {int64(twice.Listed), int64(a.Listed)},
		} {
			if got[0] != 2*got[1] {
				t.Fatalf("%s of two such nodes is %d, of one %d", figure, got[0], got[1])
			}
		}
		for i, v := range twice.Values(ChartOrder) {
			if want := 2 * a.Values(ChartOrder)[i]; v != want {
				t.Fatalf("the area %s of two such nodes is %d, want %d", ChartOrder[i], v, want)
			}
		}
	})
}

// TestOrdersHaveEveryArea once, so that neither a bar nor a chart leaves one out. What prod pods reserve and do not use is part of the rest of
// a bar, and an area of the chart alone.
func TestOrdersHaveEveryArea(t *testing.T) {
	for name, tc := range map[string]struct {
		order   []style.Area
		without style.Area
	}{
		"the chart": {ChartOrder, style.Rest},
		"the bar":   {BarOrder, style.ProdReserved},
	} {
		t.Run(name, func(t *testing.T) {
			got := map[style.Area]int{}
			for _, a := range tc.order {
				got[a]++
			}
			want := map[style.Area]int{}
			for a := range style.Area(Areas) {
				if a != tc.without {
					want[a] = 1
				}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("unexpected numbers of each area (-want +got):\n%s", diff)
			}
		})
	}
}
