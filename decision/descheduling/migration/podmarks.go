package migration

import (
	"strings"

	corev1 "k8s.io/api/core/v1"

	"koordinator.sh/koord/api/extension"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
)

// Marks are the annotations of a job's pod that have to change, with their new values; nil removes an annotation. They are:
//
//	soft-eviction         removed when a job ends without having moved the pod, so that the request does not outlive it
//	eviction-in-progress  set on a pod with request-evict-only while a job moves it, and removed when the job ends without
//
// Values of other components stay. Another is true when the pod has another job that has not ended: the marks are that job's then.
func Marks(job *schedulingv1alpha1.PodMigrationJob, pod *corev1.Pod, another bool) map[string]*string {
	if pod == nil || pod.UID != PodUID(job) || pod.DeletionTimestamp != nil {
		return nil
	}
	out := map[string]*string{}
	progress, marked := pod.Annotations[extension.AnnotationEvictionInProgress]
	if !Finished(job) {
		if _, background := pod.Annotations[extension.AnnotationRequestEvictOnly]; background && !marked {
			out[extension.AnnotationEvictionInProgress] = new(CreatedBy)
		}
		return out
	}
	if another {
		return nil
	}
	if marked && progress == CreatedBy {
		out[extension.AnnotationEvictionInProgress] = nil
	}
	if requestedBy(job, pod) {
		out[extension.AnnotationSoftEviction] = nil
	}
	return out
}

// requestedBy reports whether the soft eviction of the pod was requested by the job.
func requestedBy(job *schedulingv1alpha1.PodMigrationJob, pod *corev1.Pod) bool {
	intent := Condition(&job.Status, schedulingv1alpha1.PodMigrationJobConditionEviction)
	if intent == nil || job.Status.Phase == schedulingv1alpha1.PodMigrationJobSucceeded {
		return false
	}
	request, err := extension.GetSoftEvictionSpec(pod.Annotations)
	return err == nil && request != nil && request.Initiator == CreatedBy && request.Timestamp != nil && !request.Timestamp.Before(&intent.LastTransitionTime)
}

// InBackground reports whether a refusal with status 429 says that another component evicts the pod in the background.
func InBackground(pod *corev1.Pod, message string) bool {
	_, requested := pod.Annotations[extension.AnnotationRequestEvictOnly]
	return requested && strings.Contains(message, extension.EvictionInBackgroundText)
}

// evictedBy is the component that evicts a pod in the background; empty when none does, or this one.
func evictedBy(pod *corev1.Pod) string {
	by, marked := pod.Annotations[extension.AnnotationEvictionInProgress]
	_, requested := pod.Annotations[extension.AnnotationRequestEvictOnly]
	switch {
	case !marked || !requested || by == CreatedBy:
		return ""
	case by == "":
		return "another component"
	}
	return by
}
