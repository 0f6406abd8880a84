package suppression

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"koordinator.sh/koord/decision/core/cpuset"
)

func TestChooseCPUs(t *testing.T) {
	// 2 sockets of 8 cores with two threads: CPUs 0-15 and 16-31; a round may add 4.
	tests := map[string]struct {
		lsr      string
		excluded string
		budget   int64
		current  string
		want     string
		limit    string
	}{
		"whole cores, in turns from both sockets": {budget: 8_000, current: "0-15", want: "0-3,16-19", limit: LimitBudget},
		"a part of a CPU counts as one":           {budget: 7_001, current: "0-15", want: "0-3,16-19", limit: LimitBudget},
		"an odd count cuts one core":              {budget: 3_000, current: "0-15", want: "0-1,16", limit: LimitBudget},
		"two CPUs are left in any case":           {budget: 0, current: "0-15", want: "0-1", limit: LimitLeast},
		"growth is a tenth of the node per round": {budget: 20_000, current: "0-7", want: "0-5,16-21", limit: LimitStep},
		"less is taken at once":                   {budget: 2_000, current: "0-31", want: "0-1", limit: LimitBudget},
		"without any CPU growth begins small":     {budget: 20_000, current: "", want: "0-1,16-17", limit: LimitStep},
		"more than there are is all there are":    {budget: 64_000, current: "0-31", want: "0-31", limit: LimitAvailable},
		"LSE CPUs are not lent":                   {excluded: "0-15", budget: 4_000, current: "0-31", want: "16-19", limit: LimitBudget},
		"CPUs that others took do not count as current": {
			excluded: "0-15", budget: 16_000, current: "0-15", want: "16-19", limit: LimitStep,
		},
		// 8 of 32 belong to LSR: 3 of 12 come from there, one of them half a core.
		"LSR owners lend in proportion": {lsr: "0-7", budget: 12_000, current: "0-31", want: "0-2,8-12,16-19", limit: LimitBudget},
		"LSR owns all there is":         {lsr: "0-31", budget: 4_000, current: "0-31", want: "0-1,16-17", limit: LimitBudget},
		"a core that is shared comes after whole ones": {
			excluded: "0,16", budget: 5_000, current: "0-31", want: "1-3,18-19", limit: LimitBudget,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			cpus := CPUs{Topology: machine(t, 2, 8), LSR: parse(t, tc.lsr), Excluded: []Exclusion{{"LSE pods", parse(t, tc.excluded)}}}
			trace := &Trace{}
			got := ChooseCPUs(cpus, tc.budget, parse(t, tc.current), trace)
			if got.List != tc.want || trace.CPUs.Limit != tc.limit || got.Hold != "" {
				t.Errorf("%q by %s (hold %q), want %q by %s\n%+v", got.List, trace.CPUs.Limit, got.Hold, tc.want, tc.limit, trace.CPUs)
			}
		})
	}
}

// TestNothingToLend: shares are divided by the number of CPUs that may be lent, which may be none.
func TestNothingToLend(t *testing.T) {
	topology := machine(t, 1, 4)
	got := ChooseCPUs(CPUs{Topology: topology, Excluded: []Exclusion{{"LSE pods", topology.CPUs}}}, 4_000, topology.CPUs, nil)
	if got.Hold == "" || !got.CPUs.IsEmpty() {
		t.Errorf("%+v, want the present CPUs held", got)
	}
	if got := ChooseCPUs(CPUs{}, 4_000, topology.CPUs, nil); got.Hold == "" {
		t.Error("CPUs were chosen without a topology")
	}
	if got := shares(4, cpuset.CPUSet{}, cpuset.CPUSet{}); got != nil {
		t.Errorf("two empty pools give %+v", got)
	}
	if got := AllCPUs(CPUs{}, nil); got.Hold == "" {
		t.Error("all CPUs were given without a topology")
	}
}

func TestTheTraceOfCPUs(t *testing.T) {
	cpus := CPUs{Topology: machine(t, 1, 8), LSR: parse(t, "0-3"), Excluded: []Exclusion{{"LSE pods", parse(t, "14-15")}, {"node reservation", cpuset.CPUSet{}}}}
	trace := &Trace{}
	ChooseCPUs(cpus, 7_000, parse(t, "0-15"), trace)
	want := CPUTrace{
		CPUCount: CPUCount{Wanted: 7, Least: 2, Current: 14, Step: 2, Count: 7, Limit: LimitBudget},
		Excluded: []ExcludedCount{{Owner: "LSE pods", Count: 2, List: "14-15"}},
		Pools: []PoolShare{
			{Pool: PoolLSR, Available: 4, Taken: 2, List: "0-1", WholeCores: 1},
			{Pool: PoolShared, Available: 10, Taken: 5, List: "4-8", WholeCores: 2},
		},
	}
	if diff := cmp.Diff(want, trace.CPUs); diff != "" {
		t.Errorf("trace (-want +got):\n%s", diff)
	}
}

func drawSet(t *rapid.T, label string, most int) cpuset.CPUSet {
	return cpuset.Of(rapid.SliceOfNDistinct(rapid.IntRange(0, most-1), 0, most, rapid.ID[int]).Draw(t, label)...)
}

// TestCPUsOfAnyNode: CPUs that others own are never chosen, growth is bounded, the bound holds, and a round without a change
// changes nothing.
func TestCPUsOfAnyNode(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		topology := machine(t, rapid.IntRange(1, 4).Draw(t, "sockets"), rapid.IntRange(1, 12).Draw(t, "cores"))
		size := topology.CPUs.Len()
		excluded, lsr, current := drawSet(t, "excluded", size), drawSet(t, "lsr", size), drawSet(t, "current", size)
		budget := rapid.Int64Range(-10, 100_000).Draw(t, "budget")
		cpus := CPUs{Topology: topology, LSR: lsr, Excluded: []Exclusion{{"LSE pods", excluded}}}
		trace := &Trace{}
		got := ChooseCPUs(cpus, budget, current, trace)
		free := topology.CPUs.Difference(excluded)
		if free.IsEmpty() {
			if got.Hold == "" {
				t.Fatalf("no CPU is free, and %q is chosen", got.List)
			}
			return
		}
		count := got.CPUs.Len()
		if !free.ContainsAll(got.CPUs) || count != trace.CPUs.Count || count == 0 {
			t.Fatalf("%q chosen of %q, said to be %d", got.List, free, trace.CPUs.Count)
		}
		if step := (size + 9) / 10; count > max(current.Intersection(free).Len()+step, LeastCPUs) {
			t.Fatalf("grew from %d to %d, by more than %d", current.Intersection(free).Len(), count, step)
		}
		if bound := max((budget+999)/1000, LeastCPUs); int64(count) > bound {
			t.Fatalf("%d CPUs for a budget of %d", count, budget)
		}
		settled := got
		for range size + 1 {
			settled = ChooseCPUs(cpus, budget, settled.CPUs, nil)
		}
		if again := ChooseCPUs(cpus, budget, settled.CPUs, nil); !again.CPUs.Equal(settled.CPUs) {
			t.Fatalf("after %q comes %q with the same budget", settled.List, again.List)
		}
	})
}
