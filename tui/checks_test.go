package tui

import (
	"context"
	"slices"
	"testing"
	"time"

	"koordinator.sh/koord/kubectl-plugin/printer"
)

// checkAnswer is what checks of the fixture find.
func (r *rig) checkAnswer(context.Context) (*Checks, error) {
	if r.src.Err != nil {
		return nil, r.src.Err
	}
	r.checked++
	return &Checks{
		Groups: []printer.CheckGroup{
			{Name: "kubernetes", Rows: []printer.CheckRow{
				{ID: "version", State: "pass", Role: printer.Good, Detail: "v1.36.3", Title: "Kubernetes is of a supported version"},
			}},
			{Name: "agent", Rows: []printer.CheckRow{
				{ID: "metrics-fresh", State: "warning", Role: printer.Warn, Detail: "28 of 30 nodes", Title: "The NodeMetrics are fresh", Notes: []printer.CheckNote{{
					Severity: "warning", Code: "KOORD0101", Message: "the NodeMetric of node-0011 is 23m old, older than 3m", Help: "koordctl explain node node-0011",
					Documentation: "docs/codes.md#koord0101",
				}}},
				{ID: "rights", State: "unknown", Role: printer.Warn, Detail: "clusterroles: not permitted", Title: "The agents have their rights"},
			}},
			{Name: "webhook", Rows: []printer.CheckRow{
				{ID: "certificate", State: "failed", Role: printer.Bad, Detail: "expired 3 days ago", Title: "The certificate of the webhooks is valid", Notes: []printer.CheckNote{{
					Severity: "error", Code: "KOORD0011", Message: "the certificate of the webhooks expired on 2026-02-26", Help: "restart koord-manager, which renews it",
					Documentation: "docs/codes.md#koord0011",
				}}},
				{ID: "endpoints", State: "skipped", Role: printer.Dim, Detail: "certificate failed", Title: "The webhooks have endpoints"},
			}},
		},
		Features:   []printer.FeatureRow{{Name: "BECPUSuppress", Nodes: 30, Enabled: 30, Configured: 30, Supported: 28, Effective: 28, Known: 30, Gaps: "no cpu.max (nodes: 2)"}},
		Summary:    "5 checks: 1 passed, 1 with warnings, 1 failed, 1 skipped, 1 unknown",
		Incomplete: slices.Clone(r.src.Missing),
	}, nil
}

// TestChecksThatPassAreFolded, and the others say what to do.
func TestChecksThatPassAreFolded(t *testing.T) {
	r := newRig(t, 30).start().openScreen(checksName)
	r.resize(120, 40)
	says(t, r.plain(), []string{"agent\n", "metrics-fresh", "KOORD0101", "hint: koordctl explain node node-0011", "certificate", "5 checks: 1 passed", "BECPUSuppress", "no cpu.max"}, []string{"version", "endpoints"})
	says(t, r.press("enter").plain(), []string{"version", "metrics-fresh", "endpoints"}, nil)
}

// TestAnInstallationWithNothingWrong says so.
func TestAnInstallationWithNothingWrong(t *testing.T) {
	r := newRig(t, 3)
	r.m.check = func(context.Context) (*Checks, error) {
		return &Checks{Summary: "1 checks: 1 passed", Groups: []printer.CheckGroup{{Name: "node", Rows: []printer.CheckRow{{ID: "version", State: "pass", Role: printer.Good}}}}}, nil
	}
	says(t, r.start().openScreen(checksName).plain(), []string{"nothing is wrong", "1 checks: 1 passed"}, []string{"version"})
	says(t, r.press(":dashboard", "enter").plain(), []string{"dashboard["}, []string{"checks "})
}

// TestAnInstallationThatCannotBeChecked is an error on its screen, and nothing on the dashboard.
func TestAnInstallationThatCannotBeChecked(t *testing.T) {
	r := newRig(t, 3)
	r.m.check = nil
	says(t, r.start().openScreen(checksName).plain(), []string{"error: check the installation: not available from this source"}, nil)
	says(t, r.press(":dashboard", "enter").plain(), []string{"dashboard["}, []string{"checks", "incomplete"})
}

// TestChecksAreAskedForOnce, and again by ctrl-r.
func TestChecksAreAskedForOnce(t *testing.T) {
	r := newRig(t, 3).start().openScreen(checksName)
	if r.pass(time.Minute); r.checked != 1 {
		t.Errorf("checked %d times in a minute, want once", r.checked)
	}
	if r.press("ctrl+r"); r.checked != 2 {
		t.Errorf("checked %d times after ctrl-r, want twice", r.checked)
	}
}

// TestTheInstallationIsCheckedNowAndThen: every ten minutes on the dashboard, and by ctrl-r.
func TestTheInstallationIsCheckedNowAndThen(t *testing.T) {
	r := newRig(t, 3).start().openScreen(dashboardName)
	r.pass(checkInterval - time.Second)
	if r.checked != 1 {
		t.Errorf("checked %d times before ten minutes are over, want once", r.checked)
	}
	r.pass(3 * time.Second)
	if r.checked != 2 {
		t.Errorf("checked %d times after ten minutes, want twice", r.checked)
	}
	r.press("ctrl+r")
	if r.checked != 3 {
		t.Errorf("checked %d times after ctrl-r, want three times", r.checked)
	}
}
