package arbitration

import (
	"time"

	"k8s.io/apimachinery/pkg/types"

	"koordinator.sh/koord/decision/descheduling/evictability"
)

// Input is everything that an arbitration depends on. Nothing in it is modified.
type Input struct {
	Now    time.Time
	Limits Limits
	// Jobs are all PodMigrationJobs, finished ones included, in any order.
	Jobs []Job
	// Workloads of the pods of waiting jobs, by UID.
	Workloads map[types.UID]Workload
	// NamespacePods is how many pods a namespace has, where a limiter is a percentage of them.
	NamespacePods map[string]int
}

// State of a job in the eyes of the arbitration.
type State string

// The states of a job.
const (
	// Pending jobs have not passed the arbitration, and hold no slot.
	Pending State = "Pending"
	// Running jobs have passed the arbitration and have not finished. They hold a slot of every limit.
	Running State = "Running"
	// Finished jobs hold no slot. Their evictions count for object limiters.
	Finished State = "Finished"
)

// Job is what is known of a PodMigrationJob. Read makes one of the object; what concerns the pod is added to it.
type Job struct {
	UID     types.UID
	Name    string
	State   State
	Created time.Time
	// Expires is when the job fails because of its TTL; zero is never.
	Expires time.Time
	Paused  bool
	// Held is why the job must not start yet for reasons outside of limits, such as an earlier batch of its pass.
	Held string
	// Namespace, Pod and PodUID identify the pod to move. An empty Pod is a reference that names none.
	Namespace, Pod string
	PodUID         types.UID
	// Missing is true when the pod of a pending job does not exist.
	Missing bool
	// Node and Workload of the pod; empty for a pod without a node or a controller.
	Node     string
	Workload types.UID
	// Unattributed is true for a running job whose node and workload are not known.
	Unattributed bool
	// EvictedAt is when the job evicted the pod, or may have; zero when it has not.
	EvictedAt time.Time
	// Home that the pod which replaces the moved one still needs; empty once it has a node. A finished job may have one, too: its
	// Reservation, until that is deleted.
	Home Home
	// ReplacedFirst is true for a pod that is replaced before it is evicted, so that the job makes no pod unavailable. A running job has it
	// from Admit, which keeps the job from evicting the pod first. EvictedFirst is why a pod of a pending job that is to be is not.
	ReplacedFirst bool
	EvictedFirst  string
	// Evictability of the pod of a pending job.
	Evictability evictability.Verdict
	// Rank orders pending jobs by their pods: lower starts first.
	Rank int
}

// Workload is what users scale: a Deployment, StatefulSet, Job, or whatever else controls pods.
type Workload struct {
	Kind, Name string
	// Replicas that the workload should have; Known is false where that cannot be told, and its pods are counted instead.
	Replicas int
	Known    bool
	// Together is true for workloads whose pods are best moved one after the other before those of another one are, such as Jobs.
	Together bool
	Pods     []WorkloadPod
}

// WorkloadPod is one pod of a workload that has not ended.
type WorkloadPod struct {
	UID types.UID
	// Ready is false also for a pod that is being deleted.
	Ready bool
	// Pending is true for a pod without a node, and Leaving for one that is being deleted.
	Pending, Leaving bool
}
