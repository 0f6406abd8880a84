package gangview

import (
	"fmt"
	"slices"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	schedulingsigsv1alpha1 "koordinator.sh/koord/api/schedulingsigs/v1alpha1"
	"koordinator.sh/koord/decision/core/phrase"
)

// states in the order of their gravity.
var states = []diagnosticsv1alpha1.GangState{
	diagnosticsv1alpha1.GangInvalid, diagnosticsv1alpha1.GangFailed, diagnosticsv1alpha1.GangBlocked, diagnosticsv1alpha1.GangShort,
	diagnosticsv1alpha1.GangScheduling, diagnosticsv1alpha1.GangScheduled, diagnosticsv1alpha1.GangRunning, diagnosticsv1alpha1.GangFinished,
}

// Rank orders states by their gravity, 0 for the gravest. One that is not known comes last.
func Rank(state diagnosticsv1alpha1.GangState) int {
	if at := slices.Index(states, state); at >= 0 {
		return at
	}
	return len(states)
}

// IsProblem is true for a state that somebody should look at.
func IsProblem(state diagnosticsv1alpha1.GangState) bool {
	return Rank(state) <= Rank(diagnosticsv1alpha1.GangShort)
}

// StateOf is the state of a gang, and why it is that where that has to be said.
func StateOf(g *Gang) (diagnosticsv1alpha1.GangState, string) {
	switch {
	case g.Spec == nil:
		return diagnosticsv1alpha1.GangInvalid, fmt.Sprintf("there is no PodGroup %s/%s that can be seen", g.Namespace, g.Name)
	case g.Spec.Err != nil:
		return diagnosticsv1alpha1.GangInvalid, g.Spec.Err.Error()
	}
	switch g.Status.Phase {
	case schedulingsigsv1alpha1.PodGroupFailed:
		return diagnosticsv1alpha1.GangFailed, phrase.Counted(int(g.Status.Failed), "member") + " failed"
	case schedulingsigsv1alpha1.PodGroupRunning:
		return diagnosticsv1alpha1.GangRunning, ""
	case schedulingsigsv1alpha1.PodGroupFinished:
		return diagnosticsv1alpha1.GangFinished, ""
	case schedulingsigsv1alpha1.PodGroupScheduled:
		return diagnosticsv1alpha1.GangScheduled, ""
	}
	if len(g.Members) < int(g.Spec.MinMember) {
		return diagnosticsv1alpha1.GangShort, fmt.Sprintf("%d of %d members exist", len(g.Members), g.Spec.MinMember)
	}
	if causes := Causes(g); len(causes) > 0 {
		return diagnosticsv1alpha1.GangBlocked, causes[0].Text()
	}
	return diagnosticsv1alpha1.GangScheduling, ""
}
