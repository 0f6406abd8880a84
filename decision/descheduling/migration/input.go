package migration

import (
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"koordinator.sh/koord/api/extension"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	"koordinator.sh/koord/decision/core/podstate"
)

// Input is everything the next step of a job depends on. Nothing in it is modified.
type Input struct {
	Job *schedulingv1alpha1.PodMigrationJob
	// Args with defaults.
	Args *Args
	World
	// Now is the time. Times in the job that lie after it show that the clock was set back; the latest of them is used then.
	Now time.Time
}

// World is the objects that the job is about. What is nil does not exist.
type World struct {
	// Pod of the name that the job gives.
	Pod *Pod
	// Reservation that the job names, or the one created for it.
	Reservation *Reservation
	// Node that the Reservation is on.
	Node *Node
	// Replacement is the pod that uses the Reservation.
	Replacement *Replacement
	// Workload is the Deployment of the pod. It is read when WantsSurge says so.
	Workload *Workload
	// EvictionRequest of the job. It is read when ReadsEvictionRequest says so.
	EvictionRequest *EvictionRequest
	// EvictionRequestRefusal says why no EvictionRequest can be used, such as that the cluster serves none; empty when one can.
	EvictionRequestRefusal string
}

// Pod is the pod to move.
type Pod struct {
	UID types.UID
	// Node it runs on; empty while it is not scheduled.
	Node string
	// Terminating is true once it is deleted, and Finished when it will not run again.
	Terminating, Finished bool
	// Controlled is true when a controller replaces it.
	Controlled bool
	// Scheduler that places it and the pod that replaces it.
	Scheduler string
	// Policy is the value of label koordinator.sh/evict-policy.
	Policy EvictionPolicy
	// SoftEvicted is true when the pod is asked to leave by an annotation.
	SoftEvicted bool
	// EvictedBy is the component that evicts the pod in the background; empty when none does.
	EvictedBy string
	// DetachedBy is the UID of the job that took it from its ReplicaSet, so that it is replaced while it runs; empty for none.
	DetachedBy types.UID
	// Hashed is true when it has the label by which its ReplicaSet selects it, and Claims when it uses a PersistentVolumeClaim.
	Hashed, Claims bool
	// Grouped is true when it belongs to a PodGroup of Kubernetes.
	Grouped bool
}

// Reservation is the home of the pod that replaces the evicted one.
type Reservation struct {
	Name string
	UID  types.UID
	// Owned is true when the job created it.
	Owned bool
	// Terminating is true once it is deleted.
	Terminating bool
	Phase       schedulingv1alpha1.ReservationPhase
	// Node it is on; empty while it is pending.
	Node string
	// Unschedulable is what the scheduler says when it found no node; empty when it did not say so.
	Unschedulable string
	// Ended says why it failed.
	Ended string
	// Users are the pods that use it, and Preempted those that the scheduler evicted for it.
	Users, Preempted []corev1.ObjectReference
}

// Node is the node that the Reservation is on.
type Node struct {
	Ready, Unschedulable bool
}

// Replacement is the pod that uses the Reservation.
type Replacement struct {
	UID                types.UID
	Ready, Terminating bool
}

// PodOf reads a pod; nil for nil.
func PodOf(pod *corev1.Pod) *Pod {
	if pod == nil {
		return nil
	}
	controlled := false
	for i := range pod.OwnerReferences {
		controlled = controlled || pod.OwnerReferences[i].Controller != nil && *pod.OwnerReferences[i].Controller
	}
	claims := false
	for i := range pod.Spec.Volumes {
		claims = claims || pod.Spec.Volumes[i].PersistentVolumeClaim != nil
	}
	surge, _ := extension.GetSurge(pod.Annotations) // one that cannot be read is of no job
	return &Pod{
		DetachedBy: surge.JobUID, Hashed: pod.Labels[appsv1.DefaultDeploymentUniqueLabelKey] != "", Claims: claims,
		UID: pod.UID, Node: pod.Spec.NodeName, Terminating: pod.DeletionTimestamp != nil,
		Finished:   podstate.Ended(pod),
		Controlled: controlled, Scheduler: pod.Spec.SchedulerName,
		Policy:      EvictionPolicy(pod.Labels[extension.LabelPodEvictPolicy]),
		SoftEvicted: pod.Annotations[extension.AnnotationSoftEviction] != "",
		EvictedBy:   evictedBy(pod),
		Grouped:     pod.Spec.SchedulingGroup != nil,
	}
}

// ReplacementOf reads the pod that uses the Reservation; nil for nil.
func ReplacementOf(pod *corev1.Pod) *Replacement {
	if pod == nil {
		return nil
	}
	return &Replacement{UID: pod.UID, Terminating: pod.DeletionTimestamp != nil, Ready: isTrue(pod.Status.Conditions, corev1.PodReady)}
}

// ReservationOf reads the Reservation of a job; nil for nil.
func ReservationOf(reservation *schedulingv1alpha1.Reservation, job *schedulingv1alpha1.PodMigrationJob) *Reservation {
	if reservation == nil {
		return nil
	}
	out := &Reservation{
		Name: reservation.Name, UID: reservation.UID, Terminating: reservation.DeletionTimestamp != nil,
		Phase: reservation.Status.Phase, Node: reservation.Status.NodeName, Users: reservation.Status.CurrentOwners,
	}
	out.Preempted, _ = extension.GetReservationPreempted(reservation.Annotations) // what cannot be read is of no scheduler
	for i := range reservation.OwnerReferences {
		out.Owned = out.Owned || reservation.OwnerReferences[i].UID == job.UID
	}
	for _, condition := range reservation.Status.Conditions {
		if condition.Status != schedulingv1alpha1.ConditionStatusFalse {
			continue
		}
		if condition.Type == schedulingv1alpha1.ReservationConditionScheduled && condition.Reason == schedulingv1alpha1.ReasonReservationUnschedulable {
			out.Unschedulable = condition.Message
			if out.Unschedulable == "" {
				out.Unschedulable = "no node is available"
			}
		}
		if condition.Type == schedulingv1alpha1.ReservationConditionReady {
			out.Ended = condition.Message
		}
	}
	return out
}

// NodeOf reads a node; nil for nil.
func NodeOf(node *corev1.Node) *Node {
	if node == nil {
		return nil
	}
	out := &Node{Unschedulable: node.Spec.Unschedulable}
	for _, condition := range node.Status.Conditions {
		out.Ready = out.Ready || condition.Type == corev1.NodeReady && condition.Status == corev1.ConditionTrue
	}
	return out
}

func isTrue(conditions []corev1.PodCondition, of corev1.PodConditionType) bool {
	for _, condition := range conditions {
		if condition.Type == of {
			return condition.Status == corev1.ConditionTrue
		}
	}
	return false
}

// bound reports whether a pod uses the Reservation.
func (r *Reservation) bound() bool {
	return len(r.Users) > 0 || r.Phase == schedulingv1alpha1.ReservationSucceeded
}
