package story

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	diagnostics "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/tui/internal/style"
)

// TestTheAreasOfThePast are what was used, one above the other, and never more than the node has.
func TestTheAreasOfThePast(t *testing.T) {
	for name, tc := range map[string]struct {
		capacity int64
		used     diagnostics.UsageParts
		// want are system, prod, mid and batch.
		want [4]int64
	}{
		"all have room":                     {100, diagnostics.UsageParts{SystemUsed: 5, ProdUsed: 30, MidUsed: 10, BatchUsed: 20}, [4]int64{5, 30, 10, 20}},
		"batch is cut first":                {60, diagnostics.UsageParts{SystemUsed: 5, ProdUsed: 30, MidUsed: 10, BatchUsed: 20}, [4]int64{5, 30, 10, 15}},
		"then mid":                          {40, diagnostics.UsageParts{SystemUsed: 5, ProdUsed: 30, MidUsed: 10, BatchUsed: 20}, [4]int64{5, 30, 5, 0}},
		"the system comes first":            {4, diagnostics.UsageParts{SystemUsed: 5, ProdUsed: 30}, [4]int64{4, 0, 0, 0}},
		"less than nothing is nothing":      {100, diagnostics.UsageParts{SystemUsed: -5, ProdUsed: 30, MidUsed: -1}, [4]int64{0, 30, 0, 0}},
		"a node without capacity":           {0, diagnostics.UsageParts{ProdUsed: 30}, [4]int64{}},
		"a capacity that is less than none": {-10, diagnostics.UsageParts{ProdUsed: 30}, [4]int64{}},
	} {
		t.Run(name, func(t *testing.T) {
			p := Before(tc.capacity, tc.used)
			got := [4]int64{p.Area[style.System], p.Area[style.ProdUsed], p.Area[style.Mid], p.Area[style.BatchUsed]}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("unexpected areas (-want +got):\n%s", diff)
			}
			if p.Measured != 1 || p.Nodes != 1 || p.KnowsRequests() {
				t.Errorf("the past is measured %d of %d, and knows requests %t", p.Measured, p.Nodes, p.KnowsRequests())
			}
		})
	}
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

// TestOrdersHaveEveryArea once, so that neither a bar nor a chart leaves one out.
func TestOrdersHaveEveryArea(t *testing.T) {
	seen := map[style.Area]int{}
	for _, a := range ChartOrder {
		seen[a]++
	}
	if len(seen) != Areas || len(ChartOrder) != Areas {
		t.Errorf("the chart has %d areas, want %d", len(seen), Areas)
	}
	for _, a := range BarOrder {
		if seen[a] != 1 {
			t.Errorf("the bar has %s, which the chart has %d times", a, seen[a])
		}
	}
}
