package quota

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"koordinator.sh/koord/api/finding"
)

// company is dept (max 20) over team-a (min 6, max 18) and team-b (min 2), and ops (min 10) beside dept, in a cluster of 40.
func company(t *testing.T) *Tree {
	t.Helper()
	dept := &Spec{Name: "dept", IsParent: true, Lends: true, Min: amounts("cpu", 8000), Max: amounts("cpu", 20_000, "memory", 100)}
	a := under("dept", &Spec{Name: "team-a", Lends: true, Min: amounts("cpu", 6000), Max: amounts("cpu", 18_000, "memory", 100)})
	b := under("dept", &Spec{Name: "team-b", Lends: true, Min: amounts("cpu", 2000), Max: amounts("cpu", 20_000, "memory", 100)})
	ops := &Spec{Name: "ops", Lends: true, Min: amounts("cpu", 10_000), Max: amounts("cpu", 40_000)}
	return buildForest(Options{ScaleMin: true}, amounts("cpu", 40_000, "memory", 1000), dept, a, b, ops).ByID("")
}

func running(cpu int) Holding { return Holding{Request: amounts("cpu", cpu), Assigned: true} }

func TestAdmission(t *testing.T) {
	tests := []struct {
		name       string
		held       map[string][]Holding
		quota      string
		pod        Holding
		rules      Rules
		want       finding.Code
		wantReason string
		wantText   []string
	}{
		{name: "a pod within the runtime passes", quota: "team-a", pod: Holding{Request: amounts("cpu", 18_000)}, rules: Rules{Runtime: true, Parents: true}},
		{
			name: "a pod beyond max", quota: "team-a", pod: Holding{Request: amounts("cpu", 18_001, "memory", 5)}, rules: Rules{Runtime: true},
			want:       finding.QuotaMaxExceeded,
			wantReason: "Insufficient quotas, quotaName: team-a, runtime: cpu:18,memory:5, used: cpu:0,memory:0, pod's request: cpu:18001m,memory:5, exceedDimensions: [cpu]",
			wantText:   []string{"quota team-a (under dept): cpu used 0 + this pod 18001m > max 18"},
		},
		{
			name: "a sibling that borrowed holds the rest", quota: "team-a", pod: Holding{Request: amounts("cpu", 12_000)}, rules: Rules{Runtime: true},
			held: map[string][]Holding{"team-b": {running(12_000)}}, want: finding.QuotaShareExceeded,
			wantReason: "Insufficient quotas, quotaName: team-a, runtime: cpu:11684m,memory:0, used: cpu:0,memory:0, pod's request: cpu:12, exceedDimensions: [cpu]",
			wantText:   []string{"> runtime 11684m of max 18", "quota dept above is at its max of 20", "team-b holds 6316m (uses 12 of 8316m)"},
		},
		{
			name: "the same pod passes where only max counts", quota: "team-a", pod: Holding{Request: amounts("cpu", 12_000)},
			held: map[string][]Holding{"team-b": {running(12_000)}},
		},
		{
			name: "the quota above refuses where it is checked", quota: "team-a", pod: Holding{Request: amounts("cpu", 12_000)}, rules: Rules{Parents: true},
			held: map[string][]Holding{"team-b": {running(12_000)}}, want: finding.QuotaParentExceeded,
			wantReason: "Insufficient quotas, quotaNameTopo: [dept team-a], runtime: cpu:20,memory:100, used: cpu:12,memory:0, pod's request: cpu:12, exceedDimensions: [cpu]",
			wantText:   []string{"quota dept (level 1 above the pod's quota): cpu used 12 + this pod 12 > max 20"},
		},
		{
			name: "a pod that is not preemptible must fit into min", quota: "team-a", pod: Holding{Request: amounts("cpu", 3000), NonPreemptible: true}, rules: Rules{Runtime: true},
			held: map[string][]Holding{"team-a": {{Request: amounts("cpu", 4000), Assigned: true, NonPreemptible: true}}}, want: finding.QuotaNonPreemptibleExceeded,
			wantReason: "Insufficient non-preemptible quotas, quotaName: team-a, min: cpu:6, nonPreemptibleUsed: cpu:4,memory:0, pod's request: cpu:3, exceedDimensions: [cpu]",
			wantText:   []string{"cpu used 4 + this pod 3 > min (the pod is not preemptible) 6"},
		},
		{
			name: "the total of the tree is the bound at the top", quota: "team-a", pod: Holding{Request: amounts("cpu", 18_000)}, rules: Rules{Runtime: true},
			held: map[string][]Holding{"ops": {running(36_000)}}, want: finding.QuotaShareExceeded,
			wantText: []string{"the tree has 40 in total", "ops holds"},
		},
		{name: "a resource that the quota does not limit is not compared", quota: "ops", pod: Holding{Request: amounts("memory", 1_000_000)}, rules: Rules{Runtime: true}},
		{name: "the default quota has no bound by default", quota: "koordinator-default-quota", pod: Holding{Request: amounts("cpu", 1_000_000)}, rules: Rules{Runtime: true, Parents: true}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			tree := company(t)
			for quota, held := range test.held {
				for _, holding := range held {
					tree.Hold(quota, holding)
				}
			}
			tree.Hold(test.quota, test.pod)
			var admission Admission
			if !tree.Admission(test.quota, test.pod, test.rules, &admission) {
				t.Fatal("there is no such quota")
			}
			verdict := admission.Verdict()
			if verdict.Code != test.want {
				t.Fatalf("code %q, want %q", verdict.Code, test.want)
			}
			if reason := admission.Reason(verdict); test.wantReason != "" && reason != test.wantReason {
				t.Errorf("reason\n%s, want\n%s", reason, test.wantReason)
			}
			if got := CodeOf(admission.Reason(verdict), test.rules); verdict.Code != "" && got != verdict.Code && !(verdict.Code == finding.QuotaMaxExceeded && got == finding.QuotaShareExceeded) {
				t.Errorf("code %q of %q, want %q", got, admission.Reason(verdict), verdict.Code)
			}
			message := Message(tree.Shortages(&admission, verdict))
			for _, want := range test.wantText {
				if !strings.Contains(message, want) {
					t.Errorf("message %q lacks %q", message, want)
				}
			}
		})
	}
}

func TestAdmissionSupposesPodsGone(t *testing.T) {
	tree := company(t)
	tree.Hold("team-a", running(10_000))
	tree.Hold("team-b", running(8000))
	pod := Holding{Request: amounts("cpu", 5000)}
	tree.Hold("team-a", pod)
	var admission Admission
	tree.Admission("team-a", pod, Rules{Parents: true}, &admission)
	if verdict := admission.Verdict(); verdict.Code != finding.QuotaParentExceeded {
		t.Fatalf("code %q before", verdict.Code)
	}
	kept := admission.Clone()
	admission.Remove("team-b", tree.Ancestors("team-b"), running(3000))
	if verdict := admission.Verdict(); !verdict.Passed() {
		t.Errorf("code %q without a pod of the quota beside", verdict.Code)
	}
	if verdict := kept.Verdict(); verdict.Passed() {
		t.Error("the copy changed with the original")
	}
	kept.Remove("ops", tree.Ancestors("ops"), running(3000))
	if verdict := kept.Verdict(); verdict.Passed() {
		t.Error("a pod of an unrelated quota made room")
	}
}

func TestOperandsNameTheHolders(t *testing.T) {
	tree := company(t)
	tree.Hold("team-b", running(12_000))
	pod := Holding{Request: amounts("cpu", 12_000)}
	tree.Hold("team-a", pod)
	var admission Admission
	tree.Admission("team-a", pod, Rules{Runtime: true}, &admission)
	got := map[string]int64{}
	parts := map[string]int64{}
	for _, term := range Operands(tree.Shortages(&admission, admission.Verdict())) {
		got[term.Name] = term.Value
		for _, part := range term.Parts {
			parts[part.Name] = part.Value
		}
	}
	want := map[string]int64{"cpuUsed": 0, "cpuThisPod": 12_000, "cpuLimit": 11_684, "cpuMissing": 316, "cpuMin": 6000, "cpuMax": 18_000, "cpuBound": 20_000, "cpuBorrowed": 6316}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("operands (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]int64{"team-b": 6316}, parts); diff != "" {
		t.Errorf("holders (-want +got):\n%s", diff)
	}
}

func TestTraceSaysWhoLendsToWhom(t *testing.T) {
	forest := buildForest(Options{}, amounts("gpu", 100), gpu("idle", 10, 40), gpu("needy", 20, 10), gpu("wants", 10, 10))
	ask(t, forest, "idle", amounts("gpu", 5))
	ask(t, forest, "needy", amounts("gpu", 100))
	ask(t, forest, "wants", amounts("gpu", 15))
	got := forest.ByID("").Explain("koordinator-root-quota", "gpu")
	want := &Sharing{
		Parent: "koordinator-root-quota", Resource: "gpu", Total: 100, LeftOver: 75,
		Children: []Child{
			{Quota: "idle", Min: 40, Floor: 40, Weight: 10, Request: 5, Kept: 5, Runtime: 5},
			{Quota: "needy", Min: 10, Floor: 10, Weight: 20, Request: 100, Kept: 10, Runtime: 80},
			{Quota: "wants", Min: 10, Floor: 10, Weight: 10, Request: 15, Kept: 10, Runtime: 15},
		},
		Rounds: []Round{
			{LeftOver: 75, Gains: []Gain{{Quota: "needy", Got: 50}, {Quota: "wants", Got: 25, Returned: 20}}},
			{LeftOver: 20, Gains: []Gain{{Quota: "needy", Got: 20}}},
		},
		Loans: []Loan{
			{Round: 0, To: "needy", Amount: 40}, {Round: 0, From: "idle", To: "needy", Amount: 10}, {Round: 0, From: "idle", To: "wants", Amount: 5},
			{Round: 1, From: "idle", To: "needy", Amount: 20},
		},
	}
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("sharing (-want +got):\n%s", diff)
	}
	if forest.ByID("").Explain("idle", "gpu") != nil || forest.ByID("").Explain("nobody", "gpu") != nil {
		t.Error("a quota without children shares something")
	}
}
