package story

import (
	"testing"

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
