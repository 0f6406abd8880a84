package evacuation

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"koordinator.sh/koord/api/extension"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	"koordinator.sh/koord/decision/core/podstate"
	"koordinator.sh/koord/decision/descheduling/migration"
)

// Policy says what becomes of a pod whose migration fails.
type Policy string

const (
	// Preferred evicts the pod without a reservation.
	Preferred Policy = "Preferred"
	// Required keeps the pod where it is, and tries again.
	Required Policy = "Required"
)

// Input is what the answer depends on. Nothing in it is modified.
type Input struct {
	Pod Pod
	// Jobs of the pod, in any order.
	Jobs []Job
	Now  time.Time
}

// Pod is the pod to evict.
type Pod struct {
	UID types.UID
	// Policy is the value of annotation descheduler.koordinator.sh/migrate-on-eviction.
	Policy Policy
	// Leaving is true for a pod that is deleted, has ended or has no node: nothing has to be reserved for it.
	Leaving bool
	// Controlled is true when a controller replaces it.
	Controlled bool
}

// Job is a PodMigrationJob of the pod.
type Job struct {
	Name    string
	UID     types.UID
	Created time.Time
	Phase   schedulingv1alpha1.PodMigrationJobPhase
	// Message is what the job waits for, or why it ended.
	Message string
	// Ended is when it ended, as far as it says so.
	Ended time.Time
	// Finished is true when it has ended, and Started when it has begun to reserve or evict.
	Finished, Started bool
}

// PodOf reads a pod.
func PodOf(pod *corev1.Pod) Pod {
	ended := podstate.Ended(pod)
	return Pod{
		UID: pod.UID, Policy: Policy(pod.Annotations[extension.AnnotationMigrateOnEviction]),
		Leaving: pod.DeletionTimestamp != nil || ended || pod.Spec.NodeName == "", Controlled: metav1.GetControllerOfNoCopy(pod) != nil,
	}
}

// JobOf reads a job.
func JobOf(job *schedulingv1alpha1.PodMigrationJob) Job {
	ended := migration.Latest(job)
	if job.Status.Reason == schedulingv1alpha1.PodMigrationJobReasonTimeout && job.Spec.TTL != nil {
		ended = job.CreationTimestamp.Add(job.Spec.TTL.Duration) // nothing in the job changed for a while
	}
	return Job{
		Name: job.Name, UID: job.UID, Created: job.CreationTimestamp.Time, Phase: job.Status.Phase, Message: job.Status.Message, Ended: ended,
		Finished: migration.Finished(job), Started: job.Status.Phase != "" && job.Status.Phase != schedulingv1alpha1.PodMigrationJobPending,
	}
}

// latest is the job that was created last; nil when there is none.
func (in *Input) latest() *Job {
	if len(in.Jobs) == 0 {
		return nil
	}
	jobs := slices.SortedFunc(slices.Values(in.Jobs), func(a, b Job) int {
		if by := a.Created.Compare(b.Created); by != 0 {
			return by
		}
		return slices.Compare([]byte(a.UID), []byte(b.UID))
	})
	return &jobs[len(jobs)-1]
}
