package tui

import (
	"strings"
	"testing"

	diagnostics "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/tui/internal/cell"
)

// TestTheHeadOfAForecast has its three lines whatever it says, and shows where it was cut.
func TestTheHeadOfAForecast(t *testing.T) {
	long := strings.TrimSpace(strings.Repeat("pods leave the node, ", 20))
	for name, tc := range map[string]struct {
		forecast    *diagnostics.MigrationForecast
		want, never []string
	}{
		"a short sentence":        {&diagnostics.MigrationForecast{Message: "nothing moves"}, []string{" nothing moves\n"}, []string{"…", "dryRun"}},
		"a dry run":               {&diagnostics.MigrationForecast{Message: "nothing moves", DryRun: true}, []string{"nothing moves; dryRun is true", "makes\n none"}, []string{"…"}},
		"two lines":               {&diagnostics.MigrationForecast{Message: long[:140]}, []string{"pods leave the\n node, pods"}, []string{"…"}},
		"more than two are cut":   {&diagnostics.MigrationForecast{Message: long}, []string{"\n", "…"}, nil},
		"a message of many lines": {&diagnostics.MigrationForecast{Message: "one\ntwo\nthree\nfour"}, []string{"one two three four"}, nil},
		"before it is known":      {nil, []string{"\n"}, []string{"…", "nothing"}},
	} {
		t.Run(name, func(t *testing.T) {
			lines := newRig(t, 1).m.forecastHead(tc.forecast, minWidth)
			if len(lines) != forecastHead {
				t.Errorf("%d lines, want %d", len(lines), forecastHead)
			}
			for _, line := range lines {
				if cell.Width(line) > minWidth {
					t.Errorf("a line of %d cells: %q", cell.Width(line), line)
				}
			}
			says(t, textOf(lines), tc.want, tc.never)
		})
	}
}

// TestMovesOfAForecast: a pod may move twice, a move without a node leaves the choice to koord-scheduler and counts as a problem.
func TestMovesOfAForecast(t *testing.T) {
	move := func(round int32, name, to string) diagnostics.ForecastMove {
		return diagnostics.ForecastMove{Round: round, Seconds: int64(round-1) * 120, Namespace: "shop", Name: name, From: "node-1", To: to, Plugin: "LowNodeLoad", Reason: "cpu 78% > 65%",
			Usage: []diagnostics.ForecastAmount{{Resource: "cpu", Amount: 1500, Unit: diagnostics.MilliCPU}, {Resource: "memory", Amount: gib, Unit: diagnostics.Bytes}}, Alternatives: []string{"node-3", "node-4"}}
	}
	r := newRig(t, 30).start().openScreen(forecastName)
	rows := func(moves ...diagnostics.ForecastMove) string {
		shown := make([]moveRow, len(moves))
		for i := range moves {
			shown[i] = moveRow{ForecastMove: &moves[i]}
		}
		table := newMoveTable()
		table.ToggleWide()
		table.SetSize(200, 9)
		table.SetRows(shown)
		out := textOf(table.Draw(200, 9, true, r.m.st))
		table.ToggleProblems()
		return out + "\nproblems " + textOf(table.Draw(200, 9, true, r.m.st)[1:])
	}
	for name, tc := range map[string]struct {
		moves       []diagnostics.ForecastMove
		want, never []string
	}{
		"a move with all that is known": {[]diagnostics.ForecastMove{move(1, "web-1", "node-2")},
			[]string{"1    0s shop/web-1", "node-1", "node-2", "cpu 78% > 65%", "LowNodeLoad", "cpu=1.5 cores,memory=1Gi", "node-3,node-4", "problems"}, []string{"<scheduler>"}},
		"without a node":              {[]diagnostics.ForecastMove{move(3, "web-1", "")}, []string{"3    4m shop/web-1", "<scheduler>", "problems", "web-1"}, nil},
		"a pod that moves twice":      {[]diagnostics.ForecastMove{move(1, "web-1", "node-2"), move(2, "web-1", "node-5")}, []string{"1    0s shop/web-1", "node-2", "2    2m shop/web-1", "node-5"}, nil},
		"without a use or other node": {[]diagnostics.ForecastMove{{Round: 1, Namespace: "shop", Name: "web-1", From: "node-1", To: "node-2"}}, []string{"node-2", " - ", " - ", " -"}, nil},
	} {
		t.Run(name, func(t *testing.T) { says(t, rows(tc.moves...), tc.want, tc.never) })
	}
}

// TestRemediesOfAForecastComeBeforeMoves: limits stand where moves have their target, and what is about no pod is left to koordctl.
func TestRemediesOfAForecastComeBeforeMoves(t *testing.T) {
	r := newRig(t, 30).start().openScreen(forecastName)
	table := newMoveTable()
	table.SetSize(160, 9)
	table.SetRows(moveRows(&diagnostics.MigrationForecast{
		Moves: []diagnostics.ForecastMove{{Round: 2, Namespace: "shop", Name: "web-1", From: "node-1", To: "node-2"}},
		Remedies: []diagnostics.ForecastRemedy{
			{Round: 1, Remedy: "HoldBack", Node: "node-1"},
			{Round: 1, Remedy: "LowerCPULimit", Node: "node-1", Namespace: "ml", Name: "train", BeforeMilliCPU: 4000, AfterMilliCPU: 1500, Reason: "cpu usage falls"},
			{Round: 1, Remedy: "DeletionCost", Node: "node-1", Namespace: "shop", Name: "cart"},
		},
	}))
	says(t, textOf(table.Draw(160, 9, true, r.m.st)), []string{"ml/train", "4 cores -> 1.5 cores", "cpu usage falls", "LowerCPULimit", "shop/cart", "<none>", "shop/web-1", "node-2"}, []string{"HoldBack", "<scheduler>"})
}

// TestAForecastLeadsToItsObjects, and says so where koord-scheduler chooses the node.
func TestAForecastLeadsToItsObjects(t *testing.T) {
	for name, tc := range map[string]struct {
		keys []string
		want string
		says string
	}{
		"the pod":                {[]string{"x"}, "nodes > forecast > shop/checkout-0004", ""},
		"the node it leaves":     {[]string{"n"}, "nodes > forecast > node-0004", ""},
		"the node it goes to":    {[]string{"t"}, "nodes > forecast > node-0007", ""},
		"no node is chosen yet":  {[]string{"G", "t"}, "nodes > forecast", "the node is not known"},
		"described":              {[]string{"j", "d"}, "nodes > forecast > describe pod shop/search-0004", ""},
		"only without a node":    {[]string{"ctrl+z", "x"}, "nodes > forecast > analytics/spark-exec-0004", ""},
		"filtered by its reason": {[]string{"/78", "enter", "G", "n"}, "nodes > forecast > node-0004", ""},
		"a row that is not left": {[]string{"/nothing", "enter", "t"}, "nodes > forecast", ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, 30).start().press(":forecast", "enter").press(tc.keys...)
			if got := r.crumbs(); got != tc.want || r.m.flash.text != tc.says {
				t.Errorf("leads to %q and says %q, want %q and %q", got, r.m.flash.text, tc.want, tc.says)
			}
		})
	}
}
