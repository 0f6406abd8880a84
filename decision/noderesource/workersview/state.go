package workersview

import (
	"slices"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
)

const (
	// Sized is the state of a target that is sized.
	Sized = "Sized"
	// Suspended is the state of a target that is left as it is, because the spec says so.
	Suspended = "Suspended"
	// Unprocessed is the state of a target that koord-manager has not looked at.
	Unprocessed = "Unprocessed"
	// Stale is the state of a target that was sized, and has not been looked at for a while.
	Stale = "Stale"
)

// states in the order of their gravity.
var states = []string{"TargetUnusable", "TargetAutoscaled", "TargetShared", Stale, Unprocessed, Suspended, Sized}

// Rank orders states by their gravity, 0 for the gravest. One that is not known comes last.
func Rank(state string) int {
	if at := slices.Index(states, state); at >= 0 {
		return at
	}
	return len(states)
}

// IsProblem is true for a state that somebody should look at.
func IsProblem(state string) bool { return Rank(state) <= Rank(Unprocessed) }

// HasSize is true where the numbers of workers are those of a decision: a target that is not sized has the numbers of an earlier one, or none.
func HasSize(e *diagnosticsv1alpha1.WorkersExplanation) bool { return e.Waterfall != nil }
