package tui

import (
	"cmp"
	"strings"

	diagnostics "koordinator.sh/koord/api/diagnostics/v1alpha1"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	"koordinator.sh/koord/source"
	"koordinator.sh/koord/tui/internal/style"
)

// migrationRow is a PodMigrationJob with its state.
type migrationRow struct {
	*diagnostics.MigrationExplanation
	state migrationState
}

func migrationRows(list *source.Migrations) []migrationRow {
	if list == nil {
		return nil
	}
	rows := make([]migrationRow, len(list.Items))
	for i := range list.Items {
		rows[i] = migrationRow{MigrationExplanation: &list.Items[i], state: migrationStateOf(&list.Items[i])}
	}
	return rows
}

// migrationState is how a job fares in one word, the gravest first.
type migrationState int

const (
	migrationFailed migrationState = iota
	migrationFailing
	migrationAborted
	migrationRetrying
	migrationPaused
	migrationUnknown
	migrationRunning
	migrationPending
	migrationSucceeded
)

func migrationStateOf(e *diagnostics.MigrationExplanation) migrationState {
	switch schedulingv1alpha1.PodMigrationJobPhase(e.Phase) {
	case schedulingv1alpha1.PodMigrationJobFailed:
		return migrationFailed
	case schedulingv1alpha1.PodMigrationJobAborted:
		return migrationAborted
	case schedulingv1alpha1.PodMigrationJobSucceeded:
		return migrationSucceeded
	}
	gate := gateAt(e)
	switch {
	case gate != nil && gate.State == diagnostics.MigrationGateClosed:
		return migrationFailing
	case e.Paused:
		return migrationPaused
	case gate != nil && gate.Attempts > 0:
		return migrationRetrying
	case len(e.Gates) == 0:
		return migrationUnknown
	case !e.Arbitration.Passed:
		return migrationPending
	}
	return migrationRunning
}

func (s migrationState) word() string {
	return [...]string{"Failed", "Failing", "Aborted", "Retrying", "Paused", "Unknown", "Running", "Pending", "Succeeded"}[s]
}

func (s migrationState) ended() bool {
	return s == migrationFailed || s == migrationAborted || s == migrationSucceeded
}

func (s migrationState) mark(st *style.Set) (string, style.Style) {
	switch s {
	case migrationFailed, migrationFailing:
		return st.Cross, st.Bad
	case migrationAborted:
		return st.Cross, st.Warn
	case migrationRetrying:
		return st.Hot, st.Warn
	case migrationPaused:
		return st.Half, st.Warn
	case migrationUnknown:
		return st.Unknown, st.Warn
	case migrationRunning:
		return st.Good, st.Info
	case migrationPending:
		return st.Wait, st.Dim
	default:
		return st.Check, st.OK
	}
}

// migrationProblem selects jobs for problems-only mode: those that failed, are held back or cannot be judged.
func migrationProblem(r *migrationRow) bool { return r.state <= migrationUnknown }

// gateAt is the gate that holds a job, or that ends it; nil for a job that has ended, and where the gates are unknown.
func gateAt(e *diagnostics.MigrationExplanation) *diagnostics.MigrationGate {
	for i := range e.Gates {
		if g := &e.Gates[i]; g.State == diagnostics.MigrationGateWaiting || g.State == diagnostics.MigrationGateClosed {
			return g
		}
	}
	return nil
}

// gatesPassed counts the gates behind a job.
func gatesPassed(e *diagnostics.MigrationExplanation) int {
	passed := 0
	for i := range e.Gates {
		if e.Gates[i].State == diagnostics.MigrationGatePassed {
			passed++
		}
	}
	return passed
}

// migrationReason is what the job under the cursor waits for, or how it ended.
func migrationReason(r *migrationRow, _ int) string {
	gate := gateAt(r.MigrationExplanation)
	if gate == nil {
		return r.Message
	}
	message := gate.Message
	if !r.Arbitration.Passed && r.Message != "" {
		message = r.Message // why the arbitrator holds it back
	}
	return gate.Name + ": " + message
}

// byMigrationLife orders by the pod, jobs that have ended last.
func byMigrationLife(a, b *migrationRow) int {
	ended := func(r *migrationRow) int {
		if r.state.ended() {
			return 1
		}
		return 0
	}
	return cmp.Or(cmp.Compare(ended(a), ended(b)), strings.Compare(migratedName(a), migratedName(b)), strings.Compare(a.Name, b.Name))
}
