package disclosure

import (
	"slices"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
)

// history keeps numbers and reasons of past attempts. What differs between two attempts names nodes and repeats reasons, and the
// scheduler's summary of a failure may be an error: both are left out.
func (v *viewer) history(status *diagnosticsv1alpha1.PodExplanationStatus) {
	for i := range status.History {
		attempt := &status.History[i]
		if attempt.NodeName != "" && !v.node(attempt.NodeName) {
			attempt.NodeName = ""
		}
		if attempt.NominatedNodeName != "" && !v.node(attempt.NominatedNodeName) {
			attempt.NominatedNodeName = ""
		}
		attempt.Message, attempt.Differences = "", nil
		attempt.Scores = v.scores(attempt.Scores)
		for j := range attempt.Refusals {
			refusal := &attempt.Refusals[j]
			refusal.Reason = told(refusal.Code, refusal.Plugin, refusal.Reason)
		}
	}
	// A caller that may get a pod can read its node there, so that the node of a sibling is not withheld.
	status.Siblings = slices.DeleteFunc(status.Siblings, func(sibling diagnosticsv1alpha1.SiblingAttempt) bool {
		return !v.pod(status.Pod.Namespace, sibling.PodName)
	})
}
