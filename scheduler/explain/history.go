package explain

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/scheduler/recorder"
)

// maxSiblings bounds the pods of the same workload that a history lists.
const maxSiblings = 5

// recall adds what the scheduler remembers of past attempts.
func (e *Engine) recall(pod *corev1.Pod, status *diagnosticsv1alpha1.PodExplanationStatus) {
	if e.config.Attempts == nil {
		status.Incomplete = append(status.Incomplete, "this scheduler does not record attempts")
		return
	}
	sim := e.simulations[pod.Spec.SchedulerName]
	attempts := e.config.Attempts.History(pod.UID)
	for i := range attempts {
		published := sim.publishAttempt(&attempts[i])
		if i > 0 {
			published.Differences = recorder.Differences(attempts[i-1], attempts[i])
		}
		status.History = append(status.History, published)
	}
	if len(attempts) == 0 {
		status.Incomplete = append(status.Incomplete, "no attempts are recorded: they were made before this scheduler started or became leader, or newer ones took their place")
	}
	for _, sibling := range e.config.Attempts.Siblings(pod, maxSiblings) {
		status.Siblings = append(status.Siblings, diagnosticsv1alpha1.SiblingAttempt{
			PodName: sibling.Name, Time: metav1.MicroTime{Time: sibling.Began}, Outcome: diagnosticsv1alpha1.AttemptOutcome(sibling.Outcome), NodeName: sibling.Node,
		})
	}
}

func (s *simulation) publishAttempt(attempt *recorder.Attempt) diagnosticsv1alpha1.SchedulingAttempt {
	published := diagnosticsv1alpha1.SchedulingAttempt{
		Number: attempt.Number, Time: metav1.MicroTime{Time: attempt.Began}, DurationMicroseconds: attempt.Took.Microseconds(),
		Outcome: diagnosticsv1alpha1.AttemptOutcome(attempt.Outcome), NodeName: attempt.Node, NominatedNodeName: attempt.Nominated,
		NodesFeasible: attempt.Feasible, Message: attempt.Message,
	}
	for _, r := range attempt.Refusals {
		published.Refusals = append(published.Refusals, diagnosticsv1alpha1.AttemptRefusal{
			Plugin: r.Plugin, Reason: r.Reason, Count: r.Nodes, Code: string(s.codeOf(refusal{plugin: r.Plugin, reason: r.Reason})),
		})
	}
	for _, best := range attempt.Best {
		score := diagnosticsv1alpha1.NodeScore{Node: best.Node, Total: best.Total}
		for _, share := range best.Plugins {
			score.Plugins = append(score.Plugins, diagnosticsv1alpha1.PluginScore{Plugin: share.Plugin, Score: share.Score})
		}
		published.Scores = append(published.Scores, score)
	}
	return published
}
