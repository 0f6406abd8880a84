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
	out.ReplacedFirst = out.State == Running && extension.MustReplaceFirst(job.Annotations)
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

// Admission is what is recorded of a job that may start.
type Admission struct {
	// Node of the pod; empty for a pod without one.
	Node string `json:"node,omitempty"`
	// Workload of the pod by its UID, and Title, its kind and name; empty for a pod without a controller.
	Workload types.UID `json:"workload,omitempty"`
	Title    string    `json:"title,omitempty"`
	// ReplacedFirst keeps the job from evicting the pod before it is replaced.
	ReplacedFirst bool `json:"replacedFirst,omitempty"`
}

// Admit writes on a job that it may start.
func Admit(job *schedulingv1alpha1.PodMigrationJob, admission Admission) {
	if job.Annotations == nil {
		job.Annotations = map[string]string{}
	}
	delete(job.Annotations, extension.AnnotationArbitrationWait)
	job.Annotations[extension.AnnotationPassedArbitration] = "true"
	job.Annotations[extension.AnnotationSourceNode] = admission.Node
	job.Annotations[extension.AnnotationSourceWorkload] = ""
	if admission.Workload != "" {
		job.Annotations[extension.AnnotationSourceWorkload] = admission.Title + "/" + string(admission.Workload)
	}
	if admission.ReplacedFirst {
		job.Annotations[extension.AnnotationReplaceFirst] = "true"
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
