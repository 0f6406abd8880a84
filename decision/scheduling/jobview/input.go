package jobview

import (
	"cmp"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/decision/scheduling/kueueview"
)

// Input is a Job, and what was found out about it.
type Input struct {
	Job  *batchv1.Job
	Pods []corev1.Pod
	// PodsUnknown is true where the pods could not be read.
	PodsUnknown bool
	// Kueue is what is read of Kueue; nil where that was not possible.
	Kueue *kueueview.Input
	// Waiting explains the pod that Waiting chose; nil where there is none, or it could not be explained.
	Waiting *diagnosticsv1alpha1.PodExplanation
}

// Waiting chooses the pod of a Job that stands for those without a node: the oldest. It is nil where all have one.
func Waiting(pods []corev1.Pod) *corev1.Pod {
	var waiting []*corev1.Pod
	for i := range pods {
		if stateOf(&pods[i]) == waits {
			waiting = append(waiting, &pods[i])
		}
	}
	if len(waiting) == 0 {
		return nil
	}
	return slices.MinFunc(waiting, func(a, b *corev1.Pod) int {
		return cmp.Or(a.CreationTimestamp.Compare(b.CreationTimestamp.Time), cmp.Compare(a.Name, b.Name))
	})
}

// CountWaiting is how many of the pods have no node, and have not ended.
func CountWaiting(pods []corev1.Pod) int { return int(count(pods).Waiting) }

type podState int

const (
	waits podState = iota
	bound
	succeeded
	failed
)

func stateOf(pod *corev1.Pod) podState {
	switch {
	case pod.Status.Phase == corev1.PodSucceeded:
		return succeeded
	case pod.Status.Phase == corev1.PodFailed:
		return failed
	case pod.Spec.NodeName != "":
		return bound
	}
	return waits
}

func count(pods []corev1.Pod) diagnosticsv1alpha1.JobPods {
	var n [failed + 1]int32
	for i := range pods {
		n[stateOf(&pods[i])]++
	}
	return diagnosticsv1alpha1.JobPods{Waiting: n[waits], Bound: n[bound], Succeeded: n[succeeded], Failed: n[failed]}
}
