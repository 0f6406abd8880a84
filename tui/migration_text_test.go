package tui

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	diagnostics "koordinator.sh/koord/api/diagnostics/v1alpha1"
)

// makeMigration is a job of two minutes with three minutes left, at its second gate.
func makeMigration(edit func(*diagnostics.MigrationExplanation)) *diagnostics.MigrationExplanation {
	at := func(d time.Duration) *metav1.Time { return new(metav1.NewTime(builtAt.Add(d))) }
	e := &diagnostics.MigrationExplanation{
		Pod: diagnostics.MigratedPod{Namespace: "shop", Name: "web-1", NodeName: "node-1"}, Mode: "ReservationFirst", Phase: "Running", Summary: "at gate Eviction",
		Arbitration: diagnostics.MigrationArbitration{Passed: true}, CreatedAt: *at(-2 * time.Minute), Deadline: *at(3 * time.Minute), TargetNode: "node-2",
		Gates: []diagnostics.MigrationGate{
			{Name: "Pod", State: diagnostics.MigrationGatePassed, Since: at(-90 * time.Second), Message: "the pod runs"},
			{Name: "Eviction", State: diagnostics.MigrationGateWaiting, Since: at(-20 * time.Second), RetryAt: at(4 * time.Second), Attempts: 3, Reason: "Evicting", Message: "a budget refuses it"},
			{Name: "BoundPodReady", State: diagnostics.MigrationGateNotReached, Message: "waits for the gates before"},
		},
	}
	e.Name = "job"
	edit(e)
	return e
}

// shownMigration is the page of a job.
func shownMigration(t *testing.T, e *diagnostics.MigrationExplanation, unfolded bool) *migration {
	t.Helper()
	r := newRig(t, 1).start()
	r.clock.SetTime(builtAt)
	r.m.page().unfolded = unfolded
	d := &migration{Model: r.m}
	d.explanation.value, d.explanation.known = e, true
	return d
}

// TestTheTextOfAMigration has each gate with its clocks, and what holds the job, once.
func TestTheTextOfAMigration(t *testing.T) {
	for name, tc := range map[string]struct {
		edit        func(*diagnostics.MigrationExplanation)
		unfolded    bool
		want, never []string
	}{
		"where it is": {
			edit: func(*diagnostics.MigrationExplanation) {},
			want: []string{"Retrying  job  ReservationFirst, created 2m ago", "at gate Eviction", "pod                      shop/web-1", "move                     node-1 → node-2",
				"deadline                 in 3m, 5m after the job was created", "gates  █◐·  1 of 3 passed"},
		},
		"its gates with their clocks": {
			edit: func(*diagnostics.MigrationExplanation) {},
			want: []string{"GATE                  STATE         SINCE    RETRY  ATTEMPTS", "✓ Pod                   passed          90s        -         -",
				"◐ Eviction              waiting         20s    in 4s         3", "Evicting: a budget refuses it", "· BoundPodReady         not reached       -        -         -"},
			never: []string{"the pod runs", "conditions"},
		},
		"unfolded it says why gates are passed, and the conditions": {
			edit: func(e *diagnostics.MigrationExplanation) {
				e.Conditions = []diagnostics.MigrationCondition{{Type: "Eviction", Status: "False", Reason: "Evicting", Message: "attempt 3", LastTransitionTime: new(metav1.NewTime(builtAt.Add(-20 * time.Second)))},
					{Type: "Paused", Status: "True"}}
			}, unfolded: true,
			want: []string{"✓ Pod", "the pod runs", "conditions", "Eviction                 False for 20s, Evicting: attempt 3", "Paused                   True"},
		},
		"without conditions": {edit: func(*diagnostics.MigrationExplanation) {}, unfolded: true, want: []string{"conditions", "<none>"}},
		"a gate that closes": {
			edit: func(e *diagnostics.MigrationExplanation) { e.Gates[1].State = diagnostics.MigrationGateClosed },
			want: []string{"✗ Failing", "█✗·", "✗ Eviction              closed"},
		},
		"what comes next, and when at the latest": {
			edit: func(e *diagnostics.MigrationExplanation) {
				e.Next = &diagnostics.MigrationStep{Message: "evict the pod", At: new(metav1.NewTime(builtAt.Add(9 * time.Second)))}
			}, want: []string{"next                     evict the pod, or in 9s"},
		},
		"an action that is due": {
			edit: func(e *diagnostics.MigrationExplanation) {
				e.Next = &diagnostics.MigrationStep{Message: "evict the pod"}
			},
			want: []string{"next                     evict the pod\n"},
		},
		"the deadline has passed": {
			edit: func(e *diagnostics.MigrationExplanation) { e.Deadline = metav1.NewTime(builtAt.Add(-time.Second)) },
			want: []string{"deadline                 now, 119s after the job was created"},
		},
		"no target yet": {edit: func(e *diagnostics.MigrationExplanation) { e.TargetNode = "" }, want: []string{"move                     node-1 → <none>"}},
		"the status is said where a gate does not say it": {
			edit: func(e *diagnostics.MigrationExplanation) { e.Reason, e.Message = "MaxMigrating", "2 jobs run" },
			want: []string{"status                   MaxMigrating: 2 jobs run"},
		},
		"and not twice": {
			edit:  func(e *diagnostics.MigrationExplanation) { e.Reason, e.Message = "Evicting", "a budget refuses it" },
			never: []string{"status  "},
		},
		"one that ended has no deadline": {
			edit: func(e *diagnostics.MigrationExplanation) {
				e.Phase, e.Gates, e.Reason, e.Message = "Failed", nil, "Timeout", "timed out"
			},
			want: []string{"✗ Failed", "status                   Timeout: timed out"}, never: []string{"deadline", "gates", "GATE"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := shownMigration(t, makeMigration(tc.edit), tc.unfolded)
			says(t, textOf(d.migrationText(100)), tc.want, tc.never)
		})
	}
}

// TestTheDescriptionOfAMigration has every field; one that is not set says so.
func TestTheDescriptionOfAMigration(t *testing.T) {
	for name, tc := range map[string]struct {
		edit func(*diagnostics.MigrationExplanation)
		want []string
	}{
		"fields that are set": {func(e *diagnostics.MigrationExplanation) {
			e.Paused, e.Reservation, e.Replacement, e.OtherJobs = true, "job", "shop/web-2", &diagnostics.MigrationCount{Running: 3, Pending: 1}
		}, []string{"phase                    Running", "paused                   yes", "passed arbitration       yes", "from node                node-1", "to node                  node-2",
			"reservation              job", "replacement              shop/web-2", "deadline                 2026-03-01T10:", "other jobs               3 running, 1 pending", "conditions"}},
		"fields that are not": {func(e *diagnostics.MigrationExplanation) {
			e.Pod.NodeName, e.TargetNode, e.Mode, e.Arbitration.Passed = "", "", "", false
		}, []string{"reason                   <none>", "message                  <none>", "mode                     <none>", "paused                   no", "passed arbitration       no",
			"from node                <none>", "to node                  <none>", "reservation              <none>", "replacement              <none>", "other jobs               <unknown>", "<none>"}},
	} {
		t.Run(name, func(t *testing.T) {
			e := makeMigration(tc.edit)
			says(t, textOf(shownMigration(t, e, false).migrationDetail(e, 100)), tc.want, nil)
		})
	}
}

// TestTheReasonOfAJob in the line below its list is that of the gate that holds it, of the arbitrator, or of its end.
func TestTheReasonOfAJob(t *testing.T) {
	for name, tc := range map[string]struct {
		edit              func(*diagnostics.MigrationExplanation)
		wantReason, wants string
	}{
		"a gate holds it": {func(*diagnostics.MigrationExplanation) {}, "Eviction: a budget refuses it", "Evicting"},
		"the arbitrator holds it": {func(e *diagnostics.MigrationExplanation) {
			e.Arbitration.Passed, e.Reason, e.Message = false, "MaxMigrating", "2 jobs run"
		}, "Eviction: 2 jobs run", "MaxMigrating"},
		"it waits for its turn": {func(e *diagnostics.MigrationExplanation) { e.Arbitration.Passed = false }, "Eviction: a budget refuses it", "Evicting"},
		"it ended": {func(e *diagnostics.MigrationExplanation) {
			e.Gates, e.Phase, e.Reason, e.Message = nil, "Failed", "Timeout", "timed out"
		}, "timed out", "Timeout"},
		"it ended, and says nothing":    {func(e *diagnostics.MigrationExplanation) { e.Gates, e.Phase = nil, "Succeeded" }, "", ""},
		"all its gates are passed":      {func(e *diagnostics.MigrationExplanation) { e.Gates = e.Gates[:1] }, "", ""},
		"a gate that is about to close": {func(e *diagnostics.MigrationExplanation) { e.Gates[1].State = diagnostics.MigrationGateClosed }, "Eviction: a budget refuses it", "Evicting"},
	} {
		t.Run(name, func(t *testing.T) {
			e := makeMigration(tc.edit)
			row := migrationRow{MigrationExplanation: e, state: migrationStateOf(e)}
			if got, why := migrationReason(&row, 80), migrationWhy(&row); got != tc.wantReason || why != tc.wants {
				t.Errorf("reason %q, in short %q; want %q, %q", got, why, tc.wantReason, tc.wants)
			}
		})
	}
}
