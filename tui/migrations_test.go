package tui

import (
	"strings"
	"testing"

	diagnostics "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/source"
)

// TestTheStateOfAMigration is the gravest that holds.
func TestTheStateOfAMigration(t *testing.T) {
	gate := func(state diagnostics.MigrationGateState, attempts int32) []diagnostics.MigrationGate {
		return []diagnostics.MigrationGate{{Name: "Abort", State: diagnostics.MigrationGatePassed}, {Name: "Eviction", State: state, Attempts: attempts}}
	}
	passed := diagnostics.MigrationArbitration{Passed: true}
	for name, tc := range map[string]struct {
		job         diagnostics.MigrationExplanation
		want        string
		wantProblem bool
	}{
		"it ended well":                    {diagnostics.MigrationExplanation{Phase: "Succeeded", Paused: true}, "Succeeded", false},
		"it failed":                        {diagnostics.MigrationExplanation{Phase: "Failed"}, "Failed", true},
		"it was aborted":                   {diagnostics.MigrationExplanation{Phase: "Aborted"}, "Aborted", true},
		"a gate is about to end it":        {diagnostics.MigrationExplanation{Phase: "Running", Paused: true, Gates: gate(diagnostics.MigrationGateClosed, 2)}, "Failing", true},
		"a user paused it":                 {diagnostics.MigrationExplanation{Phase: "Running", Paused: true, Gates: gate(diagnostics.MigrationGateWaiting, 2)}, "Paused", true},
		"its eviction is refused":          {diagnostics.MigrationExplanation{Phase: "Running", Arbitration: passed, Gates: gate(diagnostics.MigrationGateWaiting, 2)}, "Retrying", true},
		"it waits for its turn":            {diagnostics.MigrationExplanation{Phase: "Pending", Gates: gate(diagnostics.MigrationGateWaiting, 0)}, "Pending", false},
		"it waits at a gate":               {diagnostics.MigrationExplanation{Phase: "Running", Arbitration: passed, Gates: gate(diagnostics.MigrationGateWaiting, 0)}, "Running", false},
		"its objects could not be read":    {diagnostics.MigrationExplanation{Phase: "Running", Arbitration: passed}, "Unknown", true},
		"all gates are passed, not yet so": {diagnostics.MigrationExplanation{Phase: "Running", Arbitration: passed, Gates: gate(diagnostics.MigrationGatePassed, 1)}, "Running", false},
	} {
		t.Run(name, func(t *testing.T) {
			row := migrationRows(&source.Migrations{Items: []diagnostics.MigrationExplanation{tc.job}})[0]
			if got := row.state.word(); got != tc.want || migrationProblem(&row) != tc.wantProblem {
				t.Errorf("state %s, problem %t, want %s, %t", got, migrationProblem(&row), tc.want, tc.wantProblem)
			}
		})
	}
}

// TestMigrationsLeadToTheirObjects by the keys of the list and of a job; what is not known is said.
func TestMigrationsLeadToTheirObjects(t *testing.T) {
	for name, tc := range map[string]struct {
		keys []string
		want string
	}{
		"explain":                     {[]string{"x"}, "nodes > migrations > hot-4-a"},
		"the pod":                     {[]string{"p"}, "nodes > migrations > shop/checkout-0004"},
		"the node it leaves":          {[]string{"n"}, "nodes > migrations > node-0004"},
		"the node it goes to":         {[]string{"t"}, "nodes > migrations > node-0007"},
		"from a job to its pod":       {[]string{"enter", "x"}, "nodes > migrations > hot-4-a > shop/checkout-0004"},
		"from a job to a node":        {[]string{"enter", "t"}, "nodes > migrations > hot-4-a > node-0007"},
		"describe":                    {[]string{"d"}, "nodes > migrations > describe migration hot-4-a"},
		"to the forecast and back":    {[]string{"f", "m"}, "nodes > migrations > forecast > migrations"},
		"from the forecast to a pod":  {[]string{"f", "x"}, "nodes > migrations > forecast > shop/checkout-0004"},
		"from the forecast to a node": {[]string{"f", "n"}, "nodes > migrations > forecast > node-0004"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, 30).start().press(":migrations /hot-4-a", "enter").press(tc.keys...)
			if got := r.crumbs(); got != tc.want {
				t.Errorf("leads to %q, want %q", got, tc.want)
			}
			r.lines()
		})
	}
	r := newRig(t, 30).start().press(":migrations /hot-4-c", "enter", "t")
	if got := r.m.flash.text; got != "the node is not known" {
		t.Errorf("without a target it says %q", got)
	}
}

// TestASourceWithoutMigrationsSaysSo rather than showing none.
func TestASourceWithoutMigrationsSaysSo(t *testing.T) {
	for command, want := range map[string]string{
		":migrations":  "error: list PodMigrationJobs: not available from this source",
		":migration a": "error: explain PodMigrationJobs: not available from this source",
		":forecast":    "error: forecast migrations: not available from this source",
	} {
		r := newRig(t, 30)
		r.m.source = struct{ source.Source }{r.src}
		if text := r.start().press(command, "enter").screen(); !strings.Contains(text, want) {
			t.Errorf("%s lacks %q:\n%s", command, want, text)
		}
	}
}
