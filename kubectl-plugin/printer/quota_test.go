package printer

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"time"
	"unicode"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	decided "koordinator.sh/koord/decision/scheduling/quota"
	"koordinator.sh/koord/decision/scheduling/quotaview"
)

// quotaViews are the views of ElasticQuotas and gangs.
func quotaViews() map[string]view {
	explain := func(edit func(*diagnosticsv1alpha1.QuotaExplanation), wide bool) view {
		return func(w io.Writer, o Options) error {
			q := quotaFixture()
			edit(q)
			o.Wide = wide
			return Quota(w, q, o)
		}
	}
	return map[string]view{
		"top-quotas": func(w io.Writer, o Options) error { return QuotaOverviews(w, quotasFixture(), o) },
		"top-quotas-all-wide": func(w io.Writer, o Options) error {
			o.Wide, o.WithNamespace = true, true
			return QuotaOverviews(w, quotasFixture(), o)
		},
		"tree-quota":          func(w io.Writer, o Options) error { return QuotaTree(w, quotasFixture(), o) },
		"explain-quota":       explain(func(*diagnosticsv1alpha1.QuotaExplanation) {}, false),
		"explain-quota-wide":  explain(func(*diagnosticsv1alpha1.QuotaExplanation) {}, true),
		"explain-quota-alone": explain(func(q *diagnosticsv1alpha1.QuotaExplanation) { q.Divisions, q.Pods, q.Refused = nil, nil, nil }, false),
		"explain-gang":        func(w io.Writer, o Options) error { o.Parts = 2; return Gang(w, gangFixture(), o) },
		"explain-gang-wide":   func(w io.Writer, o Options) error { o.Wide = true; return Gang(w, gangFixture(), o) },
	}
}

func quotaResource(name string, unit diagnosticsv1alpha1.Unit, least, runtime, used, request int64) diagnosticsv1alpha1.QuotaResource {
	return diagnosticsv1alpha1.QuotaResource{Resource: name, Unit: unit, Min: &least, Max: new(int64(decided.Unlimited)), Runtime: &runtime, Used: &used, Request: &request}
}

func quotasFixture() *diagnosticsv1alpha1.QuotaOverviewList {
	row := func(name string, depth int32, state diagnosticsv1alpha1.QuotaState, resources ...diagnosticsv1alpha1.QuotaResource) diagnosticsv1alpha1.QuotaOverview {
		return diagnosticsv1alpha1.QuotaOverview{
			ObjectMeta: metav1.ObjectMeta{Namespace: "teams", Name: name},
			QuotaFacts: diagnosticsv1alpha1.QuotaFacts{Parent: "koordinator-root-quota", Depth: depth, State: state, Resources: resources},
		}
	}
	cpu, bytes := diagnosticsv1alpha1.MilliCPU, diagnosticsv1alpha1.Bytes
	list := &diagnosticsv1alpha1.QuotaOverviewList{Items: []diagnosticsv1alpha1.QuotaOverview{
		row("analytics", 0, diagnosticsv1alpha1.QuotaWaiting, quotaResource("cpu", cpu, 40000, 60000, 55000, 80000), quotaResource("memory", bytes, 64<<30, 100<<30, 20<<30, 20<<30)),
		row("reports-of-every-night", 1, diagnosticsv1alpha1.QuotaOverused, quotaResource("cpu", cpu, 10000, 20000, 25000, 30000), quotaResource("kubernetes.io/batch-cpu", cpu, 0, 4000, 1500, 1500)),
		row("etl", 1, diagnosticsv1alpha1.QuotaBorrows, quotaResource("cpu", cpu, 10000, 40000, 30000, 40000)),
		row("etl-hourly", 2, diagnosticsv1alpha1.QuotaLends, quotaResource("cpu", cpu, 10000, 2000, 2000, 2000)),
		row("\x1b[31mred\x1b[0m\nforged", 0, diagnosticsv1alpha1.QuotaUnknown),
		row("default", 0, diagnosticsv1alpha1.QuotaNormal, quotaResource("cpu", cpu, 0, decided.Unlimited, 4000, 4000)),
	}}
	list.Items[0].Reason, list.Items[4].Misplaced = "cpu: pods request 80, the runtime is 60", `there is no parent "gone"; the quota is at the top of its tree`
	return list
}

func quotaFixture() *diagnosticsv1alpha1.QuotaExplanation {
	cpu := diagnosticsv1alpha1.MilliCPU
	division := diagnosticsv1alpha1.QuotaDivision{
		Resource: "cpu", Unit: cpu, Parent: "analytics", Total: 60000, LeftOver: 30000, Unshared: 2000, Runtime: 4000, Max: new(int64(50000)), Used: 4000,
		Available: 26000, AvailableBound: "analytics",
		Path: []diagnosticsv1alpha1.QuotaLevel{{Quota: "koordinator-root-quota", Runtime: 96000}, {Quota: "analytics", Runtime: 60000}},
		Shares: []diagnosticsv1alpha1.QuotaShare{
			{Quota: "etl", Min: 10000, Guaranteed: 10000, Weight: 1, Request: 40000, Borrowed: 30000, Runtime: 40000},
			{Quota: "reports", Min: 30000, Guaranteed: 20000, Capped: true, Weight: 2, Request: 4000, Lent: 16000, Runtime: 4000},
			{Quota: "\x1b[2Jwiped", Runtime: 1000, Request: 1000, Borrowed: 1000},
		},
		Rounds: []diagnosticsv1alpha1.QuotaRound{{LeftOver: 32000, Gains: []diagnosticsv1alpha1.QuotaGain{{Quota: "etl", Got: 30000}, {Quota: "\x1b[2Jwiped", Got: 2000, Returned: 1000}}}},
		Loans:  []diagnosticsv1alpha1.QuotaLoan{{From: "reports", To: "etl", Amount: 16000}, {From: "x", To: "reports", Amount: 1}, {To: "reports", Amount: 2}},
		Return: &diagnosticsv1alpha1.QuotaReturn{Amount: 16000, Revokes: true, AfterSeconds: 120, Holders: []diagnosticsv1alpha1.QuotaHolder{
			{Quota: "etl", Used: 38000, Runtime: 24000, Excess: 14000, NonPreemptible: 2000},
		}},
	}
	others := [2]diagnosticsv1alpha1.QuotaDivision{division, division}
	others[0].Resource, others[1].Resource = "kubernetes.io/batch-cpu", "example.com/gpu"
	others[0].AvailableBound, others[0].Return, others[1].Return, others[1].Available, others[1].Parent = "", nil, &diagnosticsv1alpha1.QuotaReturn{Holders: division.Return.Holders}, 0, "koordinator-root-quota"
	pods := func(name string) diagnosticsv1alpha1.QuotaPod {
		return diagnosticsv1alpha1.QuotaPod{Namespace: "teams", Name: name, NodeName: "worker-1", Requests: []diagnosticsv1alpha1.ForecastAmount{{Resource: "cpu", Amount: 2000, Unit: cpu}}}
	}
	below, waiting := pods("report-\x1b]0;owned\x07b"), pods("late-1")
	below.Quota, below.NonPreemptible, waiting.NodeName = "hourly", true, ""
	return &diagnosticsv1alpha1.QuotaExplanation{
		ObjectMeta: metav1.ObjectMeta{Namespace: "teams", Name: "reports"},
		QuotaFacts: diagnosticsv1alpha1.QuotaFacts{
			Parent: "analytics", Tree: "gpu", Misplaced: "parent is elsewhere", Lends: true, Namespaces: []string{"night", "day"}, State: diagnosticsv1alpha1.QuotaLends,
			Reason: "cpu: the runtime is 4 of the min 30", Problems: []string{"one", "two"},
			Resources: []diagnosticsv1alpha1.QuotaResource{quotaResource("cpu", cpu, 30000, 3000, 4000, 4000), {Resource: "memory", Unit: diagnosticsv1alpha1.Bytes}},
		},
		Divisions: append([]diagnosticsv1alpha1.QuotaDivision{division}, others[:]...),
		Pods:      []diagnosticsv1alpha1.QuotaPod{pods("report-a"), below}, PodsOmitted: 3,
		Refused:        []diagnosticsv1alpha1.QuotaRefusal{{QuotaPod: waiting, Code: "KOORD1202", Message: "quota reports (under analytics): cpu used 4 + this pod 40 > runtime 30 of max 50"}},
		RefusedOmitted: 1,
		Findings:       []diagnosticsv1alpha1.Finding{{Code: "KOORD1211", Severity: diagnosticsv1alpha1.SeverityInfo, Message: "quota \"reports\" does not count memory"}},
	}
}

func gangFixture() *diagnosticsv1alpha1.GangExplanation {
	return &diagnosticsv1alpha1.GangExplanation{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ml", Name: "training"}, State: diagnosticsv1alpha1.GangBlocked, Summary: "2 members: no gpu", Phase: "Scheduling",
		Next: "refused members are tried again", OccupiedBy: "ml/job",
		Rules:             &diagnosticsv1alpha1.GangRules{From: "PodGroup", MinMember: 4, Mode: "Strict", MatchPolicy: "once-satisfied", WaitSeconds: 600, Group: []string{"ml/training", "ml/parameters"}},
		Counts:            diagnosticsv1alpha1.GangCounts{Needed: 4, Created: 4, Waiting: 2, Bound: 2, Running: 1, Succeeded: 1, Failed: 1},
		Causes:            []diagnosticsv1alpha1.GangCause{{Message: "no gpu", Members: 2}, {Message: "\x1b[1mrejected\nbecause", Members: 1, Follows: true}},
		ScheduleStartTime: &metav1.Time{Time: fixtureNow.Add(-4 * time.Minute)},
		Members: []diagnosticsv1alpha1.GangMember{
			{Name: "w-0", Phase: "Running", NodeName: "worker-1"}, {Name: "w-1", Phase: "Pending", Refusal: "no gpu"}, {Name: "w-2", Phase: "Pending", Refusal: "\x1b[1mrejected\nbecause"},
		},
	}
}

// TestQuotasAndGangsPrintHostileTextInert: no name and no message reaches the terminal with an escape sequence.
func TestQuotasAndGangsPrintHostileTextInert(t *testing.T) {
	for name, show := range quotaViews() {
		var out bytes.Buffer
		if err := show(&out, Options{Now: fixtureNow}); err != nil {
			t.Fatal(err)
		}
		for _, r := range out.String() {
			if r != '\n' && unicode.IsControl(r) {
				t.Errorf("%s: control character %q reaches the terminal:\n%s", name, r, out.String())
				break
			}
		}
	}
}

func TestTheBarOfAQuotaHasItsWidth(t *testing.T) {
	a := &quotaview.Amounts{Min: new(int64(3)), Used: new(int64(5)), Runtime: new(int64(8)), Request: new(int64(10))}
	for style, want := range map[Style]string{{}: "███│▓···▒▒", {ASCII: true}: "###|+...??"} {
		if got := QuotaBar(a, 10, style); got != want {
			t.Errorf("bar %q, want %q", got, want)
		}
	}
	if got := QuotaBar(&quotaview.Amounts{Min: new(int64(3))}, 10, Style{}); got != "" {
		t.Errorf("a bar %q of what is not known", got)
	}
}

// TestBranchesOfTrees: a line runs down to the last child of each quota, and no further.
func TestBranchesOfTrees(t *testing.T) {
	for name, tc := range map[string]struct {
		depths []int32
		want   string
	}{
		"nothing":                        {nil, ""},
		"quotas at the top":              {[]int32{0, 0}, "|"},
		"children":                       {[]int32{0, 1, 1, 0}, "|├─ |└─ |"},
		"a line passes grandchildren by": {[]int32{0, 1, 2, 2, 1, 2}, "|├─ |│  ├─ |│  └─ |└─ |   └─ "},
		"a level is left out":            {[]int32{0, 2, 1}, "|   └─ |└─ "},
		"it begins below the top":        {[]int32{3, 1}, "└─ |└─ "},
		"below nothing":                  {[]int32{-1, 0}, "|"},
	} {
		items := make([]diagnosticsv1alpha1.QuotaOverview, len(tc.depths))
		for i, depth := range tc.depths {
			items[i].Depth = depth
		}
		if got := strings.Join(leads(items, Style{}), "|"); got != tc.want {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
	}
}
