package numa

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"koordinator.sh/koord/api/extension"
)

const (
	bestEffort = extension.NUMATopologyPolicyBestEffort
	restricted = extension.NUMATopologyPolicyRestricted
	single     = extension.NUMATopologyPolicySingleNUMANode
)

func TestMerge(t *testing.T) {
	prefer := func(mask Mask) Hint { return Hint{Mask: mask, Preferred: true} }
	tests := []struct {
		name         string
		policy       extension.NUMATopologyPolicy
		providers    map[string][]Hint
		want         Hint
		wantAdmitted bool
		wantReasons  []string
	}{
		{
			name: "two resources on different zones cannot be aligned", policy: restricted,
			providers:   map[string][]Hint{"resource1": {prefer(1)}, "resource2": {prefer(2)}},
			wantReasons: []string{"Unaligned NUMA Hint cause resource1 prefer [01] among [01],resource2 prefer [10] among [10]"},
		},
		{
			name: "best effort admits what cannot be aligned, and says why it is not", policy: bestEffort, wantAdmitted: true,
			providers:   map[string][]Hint{"resource1": {prefer(1)}, "resource2": {prefer(2)}},
			wantReasons: []string{"Unaligned NUMA Hint cause resource1 prefer [01] among [01],resource2 prefer [10] among [10]"},
		},
		{
			name: "one common zone is taken", policy: single, wantAdmitted: true, want: prefer(2),
			providers: map[string][]Hint{"cpu": {prefer(1), prefer(2), {Mask: 3}}, "memory": {prefer(2), {Mask: 3}}},
		},
		{
			name: "two zones that both resources prefer suit Restricted", policy: restricted, wantAdmitted: true, want: prefer(3),
			providers: map[string][]Hint{"cpu": {prefer(3)}, "memory": {prefer(3)}},
		},
		{
			name: "but not SingleNUMANode", policy: single,
			providers:   map[string][]Hint{"cpu": {prefer(3)}, "memory": {prefer(3)}},
			wantReasons: []string{"Unaligned NUMA Hint cause cpu prefer [11] among [11],memory prefer [11] among [11]"},
		},
		{
			name: "a wider set that also holds is not preferred", policy: bestEffort, want: Hint{Mask: 1}, wantAdmitted: true,
			providers:   map[string][]Hint{"cpu": {prefer(1)}, "memory": {{Mask: 3}}},
			wantReasons: []string{"Unaligned NUMA Hint cause cpu prefer [01] among [01],memory prefer [] among [11]"},
		},
		{
			name: "a resource that does not care changes nothing", policy: single, wantAdmitted: true, want: prefer(1),
			providers: map[string][]Hint{"cpu": {prefer(1)}, "example.com/license": nil},
		},
		{name: "nobody cares", policy: single, wantAdmitted: true, want: Hint{Preferred: true}, providers: map[string][]Hint{"cpu": nil}},
		{
			name: "a resource that no zones can give is refused even when all others agree", policy: restricted,
			providers:   map[string][]Hint{"cpu": {prefer(1)}, "gpu": {}},
			wantReasons: []string{"Unaligned NUMA Hint cause cpu prefer [01] among [01],gpu prefer [] among []"},
		},
		{
			name: "equally narrow sets are told apart by their scores", policy: bestEffort, wantAdmitted: true, want: Hint{Mask: 2, Preferred: true, Score: 9},
			providers: map[string][]Hint{"cpu": {{1, true, 5}, {2, true, 4}}, "memory": {{1, true, 1}, {2, true, 5}}},
		},
		{name: "without a policy nothing is aligned", wantAdmitted: true, want: Hint{Preferred: true}, providers: map[string][]Hint{"cpu": {}}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, admitted, reasons := Merge(test.policy, test.providers)
			if got != test.want || admitted != test.wantAdmitted {
				t.Errorf("Merge = %+v, admitted %v, want %+v, %v", got, admitted, test.want, test.wantAdmitted)
			}
			if diff := cmp.Diff(test.wantReasons, reasons); diff != "" {
				t.Errorf("reasons (-want +got):\n%s", diff)
			}
		})
	}
}

// TestMergeIsTheBestOfAllCombinations walks through the whole product of hints.
func TestMergeIsTheBestOfAllCombinations(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		policy := rapid.SampledFrom([]extension.NUMATopologyPolicy{bestEffort, restricted, single}).Draw(t, "policy")
		providers := map[string][]Hint{}
		for _, name := range []string{"cpu", "memory", "gpu"}[:rapid.IntRange(1, 3).Draw(t, "resources")] {
			providers[name] = rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Hint {
				return Hint{Mask(rapid.IntRange(1, 15).Draw(t, "mask")), rapid.Bool().Draw(t, "preferred"), int64(rapid.IntRange(0, 3).Draw(t, "score"))}
			}), 1, 6).Draw(t, name)
		}
		want, found := Hint{}, false
		lists, possible := candidates(policy, providers)
		var walk func(depth int, chosen []Hint)
		walk = func(depth int, chosen []Hint) {
			if depth < len(lists) {
				for _, hint := range lists[depth] {
					walk(depth+1, append(chosen, hint))
				}
				return
			}
			merged := Hint{Mask: ^Mask(0), Preferred: possible}
			for _, hint := range chosen {
				merged.Mask &= hint.Mask
				merged.Score += hint.Score
				merged.Preferred = merged.Preferred && hint.Preferred && hint.Mask == chosen[0].Mask
			}
			if merged.Mask != 0 && (!found || merged.better(want)) {
				want, found = merged, true
			}
		}
		if len(lists) > 0 {
			walk(0, nil)
		}
		got, _, _ := Merge(policy, providers)
		if !possible && got.Preferred {
			t.Fatalf("Merge = %+v, though one resource has no hint that counts", got)
		}
		if policy != bestEffort && !want.Preferred {
			want = Hint{}
		}
		if possible && got != want {
			t.Fatalf("Merge = %+v, the best of all combinations is %+v", got, want)
		}
	})
}

func TestMask(t *testing.T) {
	mask := MaskOf(0, 2, -1, 64)
	if mask.String() != "0101" || mask.Count() != 2 || !mask.Has(2) || mask.Has(1) || mask.Has(64) {
		t.Errorf("mask of zones 0 and 2 is %s with %d zones", mask, mask.Count())
	}
	var zones []int
	for zone := range mask.Zones() {
		zones = append(zones, zone)
	}
	if diff := cmp.Diff([]int{0, 2}, zones); diff != "" {
		t.Error(diff)
	}
	for mask, want := range map[Mask]string{0: "00", 1: "01", 2: "10", 4: "0100", 63: "111111"} {
		if got := mask.String(); got != want {
			t.Errorf("mask %d is %q, want %q", uint64(mask), got, want)
		}
	}
}
