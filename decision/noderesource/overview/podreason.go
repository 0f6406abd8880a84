package overview

import (
	"cmp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// availableNodes stands in the message of a pod that no node takes, before the reasons.
const availableNodes = " nodes are available: "

// withoutPostFilters is the scheduler's message without what its post filters add in further sentences: preemption, and
// claims that could be deallocated.
func withoutPostFilters(message string) string {
	head, reasons, found := strings.Cut(message, availableNodes)
	if !found {
		return message
	}
	reasons, _, found = strings.Cut(reasons, ". ")
	if found {
		reasons += "."
	}
	return head + availableNodes + reasons
}

// reasonOf says why a pod is pending or has failed; empty for others, and where no reason is given.
func reasonOf(pod *corev1.Pod) string {
	switch pod.Status.Phase {
	case corev1.PodPending, "":
		return pendingReason(pod)
	case corev1.PodFailed:
		return failedReason(pod)
	}
	return ""
}

// pendingReason is what the scheduler says of a pod without a node, and of one with a node what its containers wait for.
func pendingReason(pod *corev1.Pod) string {
	for _, condition := range pod.Status.Conditions {
		if condition.Type == corev1.PodScheduled && condition.Status == corev1.ConditionFalse {
			return cmp.Or(withoutPostFilters(condition.Message), condition.Reason)
		}
	}
	for _, status := range slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses) {
		if waiting := status.State.Waiting; waiting != nil && waiting.Reason != "" {
			return reasonAnd(waiting.Reason, waiting.Message)
		}
	}
	return ""
}

// failedReason is what evicted or refused the pod, or else how its first container that failed ended.
func failedReason(pod *corev1.Pod) string {
	if pod.Status.Reason != "" {
		return reasonAnd(pod.Status.Reason, pod.Status.Message)
	}
	for _, status := range slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses) {
		if ended := status.State.Terminated; ended != nil && ended.ExitCode != 0 {
			return reasonAnd(ended.Reason, ended.Message)
		}
	}
	return pod.Status.Message
}

func reasonAnd(reason, message string) string {
	if reason == "" || message == "" {
		return reason + message
	}
	return reason + ": " + message
}
