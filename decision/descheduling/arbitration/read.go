package arbitration

import (
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"koordinator.sh/koord/api/extension"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
)

// Read reads what a PodMigrationJob says itself, with the mode of jobs that have none. Of a pending one, the caller adds what concerns the
// pod.
func Read(job *schedulingv1alpha1.PodMigrationJob, defaultMode schedulingv1alpha1.PodMigrationJobMode) Job {
	out := Job{
		UID: job.UID, Name: job.Name, State: StateOf(job), Created: job.CreationTimestamp.Time, Paused: job.Spec.Paused, EvictedAt: evictedAt(job),
		Node: job.Annotations[extension.AnnotationSourceNode], Home: homeOf(job, defaultMode),
	}
	if job.Spec.TTL != nil && job.Spec.TTL.Duration > 0 {
		out.Expires = out.Created.Add(job.Spec.TTL.Duration)
	}
	if ref := job.Spec.PodRef; ref != nil {
		out.Namespace, out.Pod, out.PodUID = ref.Namespace, ref.Name, ref.UID
	}
	source, recorded := job.Annotations[extension.AnnotationSourceWorkload]
	out.Workload = types.UID(source[strings.LastIndex(source, "/")+1:])
	out.Unattributed = out.State == Running && !recorded
	return out
}

// StateOf is the state of a job. Phases that are not known count as running: they hold a slot until somebody finishes the job.
func StateOf(job *schedulingv1alpha1.PodMigrationJob) State {
	switch job.Status.Phase {
	case schedulingv1alpha1.PodMigrationJobSucceeded, schedulingv1alpha1.PodMigrationJobFailed, schedulingv1alpha1.PodMigrationJobAborted:
		return Finished
	case "", schedulingv1alpha1.PodMigrationJobPending:
		if job.Annotations[extension.AnnotationPassedArbitration] != "true" {
			return Pending
		}
	}
	return Running
}

// Admit writes on a job that it may start, and of which node and workload its pod was.
func Admit(job *schedulingv1alpha1.PodMigrationJob, node string, workload types.UID, title string) {
	if job.Annotations == nil {
		job.Annotations = map[string]string{}
	}
	job.Annotations[extension.AnnotationPassedArbitration] = "true"
	job.Annotations[extension.AnnotationSourceNode] = node
	job.Annotations[extension.AnnotationSourceWorkload] = ""
	if workload != "" {
		job.Annotations[extension.AnnotationSourceWorkload] = title + "/" + string(workload)
	}
}

// evictedAt is when the job evicted its pod, or may have: the later one of the condition's change and of the last try. An eviction that
// was tried counts although the job ended before the pod was gone.
func evictedAt(job *schedulingv1alpha1.PodMigrationJob) time.Time {
	for _, condition := range job.Status.Conditions {
		if condition.Type != schedulingv1alpha1.PodMigrationJobConditionEviction {
			continue
		}
		evicted := condition.Status == schedulingv1alpha1.PodMigrationJobConditionStatusTrue
		if !evicted && (StateOf(job) != Finished || condition.Reason != schedulingv1alpha1.PodMigrationJobReasonEvicting) {
			continue
		}
		if condition.LastProbeTime.After(condition.LastTransitionTime.Time) {
			return condition.LastProbeTime.Time
		}
		return condition.LastTransitionTime.Time
	}
	return time.Time{}
}
