package cpuset

import (
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"koordinator.sh/koord/api/extension"
)

// TestSetOperationsAgreeWithMaps holds every operation against one on maps.
func TestSetOperationsAgreeWithMaps(t *testing.T) {
	draw := rapid.SliceOf(rapid.OneOf(rapid.IntRange(0, 20), rapid.IntRange(60, 70), rapid.IntRange(0, extension.MaxCPUID)))
	rapid.Check(t, func(t *rapid.T) {
		x, y := draw.Draw(t, "x"), draw.Draw(t, "y")
		a, b := Of(x...), Of(y...)
		inX, inY := members(x), members(y)
		union, both, only := maps.Clone(inX), map[int]bool{}, map[int]bool{}
		for cpu := range inY {
			union[cpu] = true
		}
		for cpu := range inX {
			if inY[cpu] {
				both[cpu] = true
			} else {
				only[cpu] = true
			}
		}
		for name, pair := range map[string]struct {
			got  CPUSet
			want map[int]bool
		}{"of": {a, inX}, "union": {a.Union(b), union}, "intersection": {a.Intersection(b), both}, "difference": {a.Difference(b), only}} {
			if diff := cmp.Diff(slices.Sorted(maps.Keys(pair.want)), pair.got.List()); diff != "" {
				t.Fatalf("%s (-want +got):\n%s", name, diff)
			}
			if pair.got.Len() != len(pair.want) || pair.got.IsEmpty() != (len(pair.want) == 0) {
				t.Fatalf("%s: length %d", name, pair.got.Len())
			}
		}
		if a.Meets(b) != (len(both) > 0) || a.ContainsAll(b) != (len(both) == len(inY)) || !a.Equal(Of(x...)) {
			t.Fatal("comparison")
		}
		again, err := Parse(a.String())
		if err != nil || !again.Equal(a) {
			t.Fatalf("%q parses to %q: %v", a, again, err)
		}
	})
}

func members(cpus []int) map[int]bool {
	set := map[int]bool{}
	for _, cpu := range cpus {
		set[cpu] = true
	}
	return set
}

func TestSetIgnoresWhatNoCPUCanBe(t *testing.T) {
	if got := Of(-1, 3, extension.MaxCPUID+1); got.String() != "3" || got.Has(-1) || got.Has(extension.MaxCPUID+1) {
		t.Errorf("got %q", got)
	}
	if _, err := Parse("3-1"); err == nil {
		t.Error("a descending range parses")
	}
}

// TestTakeOnLargeMachines takes pod after pod until the machine is full, with and without preferred CPUs.
func TestTakeOnLargeMachines(t *testing.T) {
	topology := machine(t, 2, 4, 16, 2)
	rapid.Check(t, func(t *rapid.T) {
		free := topology.CPUs
		for !free.IsEmpty() {
			request := Request{
				Count:     rapid.IntRange(1, 48).Draw(t, "count"),
				Policy:    rapid.SampledFrom([]extension.CPUBindPolicy{fullPCPUs, spreadByPCPUs}).Draw(t, "policy"),
				Required:  rapid.Bool().Draw(t, "required"),
				Strategy:  rapid.SampledFrom([]extension.NUMAAllocateStrategy{mostAllocated, least, evenly}).Draw(t, "strategy"),
				Exclusive: rapid.SampledFrom([]extension.CPUExclusivePolicy{"", extension.CPUExclusivePolicyPCPULevel}).Draw(t, "exclusive"),
			}
			owned := topology.CPUs.Difference(free)
			supply := Supply{Topology: topology, Free: free, Preferred: Of(rapid.SliceOfN(rapid.IntRange(0, 255), 0, 8).Draw(t, "preferred")...), CoreExclusive: owned}
			got, shortage := Take(supply, request, nil)
			if fits := Fits(topology, free, request.Count, request.Policy, request.Required); fits != shortage {
				t.Fatalf("Fits says %d, Take %d", fits, shortage)
			}
			if again, _ := Take(supply, request, &Trace{}); !again.Equal(got) {
				t.Fatalf("took %s, then %s", got, again)
			}
			if shortage == Enough && (got.Len() != request.Count || got.Meets(owned)) {
				t.Fatalf("took %s of %s, %d wanted", got, free, request.Count)
			}
			if used := got.countBoth(supply.Preferred); shortage == Enough && !request.Required && used < min(request.Count, free.countBoth(supply.Preferred)) {
				t.Fatalf("used %d of the preferred CPUs %s", used, supply.Preferred.Intersection(free))
			}
			if shortage != Enough {
				break
			}
			free = free.Difference(got)
		}
	})
}

func BenchmarkTake(b *testing.B) {
	topology := machine(b, 2, 4, 16, 2)
	free := topology.CPUs.Difference(Of(0, 2, 4, 32, 34, 66, 128, 130, 255))
	for name, policy := range map[string]extension.CPUBindPolicy{"FullPCPUs": fullPCPUs, "SpreadByPCPUs": spreadByPCPUs} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				Take(Supply{Topology: topology, Free: free}, Request{Count: 24, Policy: policy}, nil)
			}
		})
	}
	b.Run("Fits", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			Fits(topology, free, 24, fullPCPUs, true)
		}
	})
}
