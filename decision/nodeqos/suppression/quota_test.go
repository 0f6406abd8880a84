package suppression

import (
	"testing"

	"pgregory.net/rapid"

	"koordinator.sh/koord/decision/core/capacity"
	"koordinator.sh/koord/decision/core/cfs"
)

func TestChooseQuota(t *testing.T) {
	const node = 80_000
	tests := map[string]struct {
		budget, current int64
		want            int64
		limit           string
		wantHold        bool
	}{
		"growth is a tenth of the node at once":         {budget: 20_000, current: 1_000_000, want: 1_800_000, limit: LimitStep},
		"a smaller growth is granted in full":           {budget: 20_000, current: 1_900_000, want: 2_000_000, limit: LimitBudget},
		"less is taken at once":                         {budget: 20_000, current: 2_400_000, want: 2_000_000, limit: LimitBudget},
		"much less is taken at once":                    {budget: 1_000, current: 8_000_000, want: 100_000, limit: LimitBudget},
		"a change below one percent is not written":     {budget: 20_000, current: 1_980_000, want: 1_980_000, limit: LimitBypass, wantHold: true},
		"nor when it is to less":                        {budget: 20_000, current: 2_020_000, want: 2_020_000, limit: LimitBypass, wantHold: true},
		"next to nothing is the least quota":            {budget: 1, current: 1_000_000, want: 2_000, limit: LimitLeast},
		"the least quota is written however near":       {budget: 0, current: 2_500, want: 2_000, limit: LimitLeast},
		"without a quota the target is written at once": {budget: 20_000, current: -1, want: 2_000_000, limit: LimitBudget},
		"an impossible quota counts as none":            {budget: 20_000, current: 0, want: 2_000_000, limit: LimitBudget},
		"the same again is not written":                 {budget: 20_000, current: 2_000_000, want: 2_000_000, limit: LimitBudget, wantHold: true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := ChooseQuota(node, tc.budget, tc.current)
			if got.Quota != tc.want || got.Limit != tc.limit || (got.Hold != "") != tc.wantHold {
				t.Errorf("%+v, want %d by %s", got, tc.want, tc.limit)
			}
		})
	}
}

// TestQuotasOfAnyNode: growth is bounded, no quota exceeds its target by one percent of the node or more, and more budget
// never gives less.
func TestQuotasOfAnyNode(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		node, budget := rapid.Int64Range(1_000, 1_000_000).Draw(t, "node"), rapid.Int64Range(0, 2_000_000).Draw(t, "budget")
		current := rapid.OneOf(rapid.Just(cfs.Unlimited), rapid.Int64Range(LeastQuota, 200_000_000)).Draw(t, "current")
		got := ChooseQuota(node, budget, current)
		whole, target := cfs.Quota(node), max(cfs.Quota(budget), LeastQuota)
		if current > 0 && got.Quota-current > capacity.Percent(whole, 10) {
			t.Fatalf("grew from %d to %d on a node of %d", current, got.Quota, whole)
		}
		if got.Quota > target+max(capacity.Percent(whole, 1)-1, 0) || got.Quota < min(target, LeastQuota) {
			t.Fatalf("quota %d for a target of %d", got.Quota, target)
		}
		if (got.Hold != "") != (got.Quota == current) {
			t.Fatalf("%+v: held and changed", got)
		}
		more := ChooseQuota(node, budget+rapid.Int64Range(0, 100_000).Draw(t, "more"), current)
		if more.Quota < got.Quota && got.Hold == "" && more.Hold == "" {
			t.Fatalf("more budget gives %d, less gives %d", more.Quota, got.Quota)
		}
	})
}
