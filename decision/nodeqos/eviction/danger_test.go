package eviction

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"koordinator.sh/koord/api/extension"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	"koordinator.sh/koord/decision/core/podrequest"
)

// cornered is a node of 120 G with 1 G left, whose pods are all protected by budgets.
func cornered() Input {
	pods := []Pod{batch("large", 100, 0, 0, 20*giga), batch("small", 100, 0, 0, 5*giga), batch("later", 120, 0, 0, 30*giga)}
	for i := range pods {
		pods[i].Refused = RefusedBudget
	}
	in := input(only(BEMemoryEvict), node(0, 119*giga), slov1alpha1.ResourceThresholdStrategy{MemoryEvictThresholdPercent: new(int64(70))}, pods...)
	in.Danger = Danger{Allowed: true, Readings: DangerReadings}
	return in
}

func TestBudgetsAreOverriddenInDanger(t *testing.T) {
	tests := map[string]struct {
		change   func(*Input)
		want     []string
		wantHeld string
	}{
		"one pod at a time, in order":              {func(*Input) {}, []string{"large"}, "one pod at a time"},
		"not where that is off":                    {func(in *Input) { in.Danger.Allowed = false }, nil, "evictInDanger is off"},
		"not before it has lasted":                 {func(in *Input) { in.Danger.Readings = 4 }, nil, "after 5 readings in danger, and there were 4"},
		"not while there is memory left":           {func(in *Input) { in.Node.Used.Memory = 116 * giga }, nil, "4000000000 bytes of memory are left: they are overridden below 3600000000"},
		"not while a pod may go that nobody asked": {func(in *Input) { in.Pods[2].Refused = NotRefused }, []string{"later"}, "no more pod"},
		"not when an eviction failed otherwise":    {func(in *Input) { in.Pods[2].Refused = RefusedFailure }, nil, "no more pod"},
		"not while a pod is leaving":               {func(in *Input) { in.Pods[1].Leaving = true }, nil, "no more pod"},
		"not beyond the budget of the node": {func(in *Input) {
			in.Budget = &Budget{PerRound: 1, PerWindow: 1, Window: time.Hour, Evicted: []time.Time{noon}}
		}, nil, "1 pods are evicted within"},
		"not while the last eviction takes effect": {func(in *Input) { in.LastEviction = map[Resource]time.Time{Memory: noon.Add(-time.Second)} }, nil, "less than"},
		"not when memory eviction is off":          {func(in *Input) { in.On = nil }, nil, ""},
		"not on an old measurement":                {func(in *Input) { in.Node.At = noon.Add(-3 * time.Second) }, nil, ""},
		"not a pod that is critical":               {func(in *Input) { in.Pods[0].Critical = "it is" }, []string{"small"}, "one pod at a time"},
		"not a pod of a class above":               {func(in *Input) { in.Pods[0].QoS = extension.QoSLSR }, []string{"small"}, "one pod at a time"},
		"not a pod whose policy forbids it":        {func(in *Input) { in.Pods[0].Allowed = map[Feature]bool{} }, []string{"small"}, "one pod at a time"},
		"not for requests beyond the memory's offer": {func(in *Input) {
			in.On = only(MemoryAllocatableEvict)
			in.Strategy.MemoryAllocatableEvictThresholdPercent, in.Strategy.MemoryAllocatableEvictLowerPercent = new(int64(10)), new(int64(5))
			in.Strategy.AllocatableEvictPriorityThreshold = new(int32(5999))
			for i := range in.Pods {
				in.Pods[i].Agrees = true
			}
		}, nil, "no more pod"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			in := cornered()
			tc.change(&in)
			plan := Decide(in, nil)
			if diff := cmp.Diff(tc.want, names(plan.Victims)); diff != "" {
				t.Errorf("victims (-want +got):\n%s", diff)
			}
			held := ""
			for _, outcome := range plan.Outcomes {
				held += outcome.Held
			}
			if !strings.Contains(held, tc.wantHeld) {
				t.Errorf("held because %q, want %q", held, tc.wantHeld)
			}
			for _, victim := range plan.Victims {
				if overrides := tc.wantHeld == "one pod at a time"; (victim.Override != "") != overrides {
					t.Errorf("override %q", victim.Override)
				}
			}
		})
	}
	victim := Decide(cornered(), nil).Victims[0]
	if want := "PodDisruptionBudgets protect all 3 pods that may be evicted, and only 1000000000 bytes of memory are left for 5 readings"; victim.Override != want {
		t.Errorf("override %q, want %q", victim.Override, want)
	}
}

func TestNodesInDanger(t *testing.T) {
	memory := func(bytes int64) podrequest.Amount { return podrequest.Amount{Memory: bytes} }
	for name, tc := range map[string]struct {
		capacity, used int64
		want           bool
	}{
		"3% are left":                   {1000, 970, false},
		"less is left":                  {1000, 971, true},
		"more than all is used":         {1000, 1001, true},
		"4 GiB are left of a large one": {1 << 40, 1<<40 - 4<<30, false},
		"less is left of a large one":   {1 << 40, 1<<40 - 4<<30 + 1, true},
		"not measured":                  {1000, 0, false},
		"negative":                      {1000, -1, false},
		"no capacity":                   {0, 5, false},
	} {
		if got := InDanger(memory(tc.capacity), memory(tc.used)); got != tc.want {
			t.Errorf("%s: in danger %t", name, got)
		}
	}
}

// TestOverridesTouchNobodyElse draws nodes in any state: who is taken against a budget is one that a budget protects, best effort or
// agreeing, and alone.
func TestOverridesTouchNobodyElse(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		in := cornered()
		in.On = only(BEMemoryEvict, MemoryEvict)
		in.Strategy.EvictEnabledPriorityThreshold = new(int32(7999))
		in.Danger = Danger{Allowed: rapid.Bool().Draw(r, "allowed"), Readings: rapid.IntRange(0, 10).Draw(r, "readings")}
		in.Node.Used.Memory = rapid.Int64Range(100*giga, 125*giga).Draw(r, "used")
		by := map[string]*Pod{}
		for i := range in.Pods {
			pod := &in.Pods[i]
			pod.Refused = rapid.SampledFrom([]Refusal{NotRefused, RefusedBudget, RefusedBudget, RefusedFailure}).Draw(r, "refused")
			pod.QoS = rapid.SampledFrom([]extension.QoSClass{extension.QoSBE, extension.QoSLS, extension.QoSLSR, extension.QoSLSE, extension.QoSSystem, extension.QoSNone}).Draw(r, "class")
			pod.Priority = rapid.Int32Range(5000, 9999).Draw(r, "priority")
			pod.Agrees, pod.Leaving = rapid.Bool().Draw(r, "agrees"), rapid.Bool().Draw(r, "leaving")
			if rapid.Bool().Draw(r, "critical") {
				pod.Critical = "it is"
			}
			by[pod.Ref.Name] = pod
		}
		plan := Decide(in, nil)
		overridden := 0
		for _, victim := range plan.Victims {
			pod := by[victim.Pod.Name]
			if victim.Override == "" {
				if pod.Refused != NotRefused {
					r.Errorf("%s is asked for again", pod.Ref.Name)
				}
				continue
			}
			overridden++
			if pod.Refused != RefusedBudget || pod.Critical != "" || pod.Leaving || !in.Danger.Allowed || in.Danger.Readings < DangerReadings {
				r.Errorf("%+v is taken against a budget in danger %+v", pod, in.Danger)
			}
			if pod.QoS != extension.QoSBE && (!pod.Agrees || pod.Priority > 7999 || pod.QoS == extension.QoSLSR || pod.QoS == extension.QoSLSE || pod.QoS == extension.QoSSystem) {
				r.Errorf("%+v is taken against a budget", pod)
			}
		}
		if overridden > 1 {
			r.Errorf("%d pods are taken against budgets at once", overridden)
		}
	})
}
