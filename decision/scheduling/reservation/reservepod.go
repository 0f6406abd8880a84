package reservation

import (
	"maps"
	"math"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"koordinator.sh/koord/api/extension"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
)

// Annotations of reserve pods, which exist inside the scheduler only.
const (
	// AnnotationReservePod marks them with "true".
	AnnotationReservePod = extension.SchedulingDomainPrefix + "reserve-pod"
	// AnnotationReservationName is the name of the Reservation.
	AnnotationReservationName = extension.SchedulingDomainPrefix + "reservation-name"
	// AnnotationReservationNode is the only node wanted: spec.nodeName of the template.
	AnnotationReservationNode = extension.SchedulingDomainPrefix + "reservation-node"
	// annotationNeverPreempts is there when preemptionPolicy of the template is Never.
	annotationNeverPreempts = extension.SchedulingDomainPrefix + "reservation-never-preempts"
)

// IsReservePod reports whether a pod stands for a Reservation: it bears the annotation, and its UID for a name. A user can write
// the annotation and choose the name, but no UID.
func IsReservePod(pod *corev1.Pod) bool {
	return pod.Annotations[AnnotationReservePod] == "true" && pod.Name == string(pod.UID)
}

// NameOf returns the name of the Reservation that a reserve pod stands for.
func NameOf(pod *corev1.Pod) string { return pod.Annotations[AnnotationReservationName] }

// RequiredNode returns the node that a reserve pod must be on, empty when it may be on any.
func RequiredNode(pod *corev1.Pod) string { return pod.Annotations[AnnotationReservationNode] }

// NeverPreempts reports whether the template of a Reservation says that no pod may be evicted for it. The preemptionPolicy of a reserve pod
// does not: it keeps plugins from preempting that look for the pod in the cluster.
func NeverPreempts(pod *corev1.Pod) bool { return pod.Annotations[annotationNeverPreempts] != "" }

// ReservePod makes the pod that is scheduled for a Reservation, from its template: UID and name are the Reservation's UID, its
// labels and annotations come on top of the template's where those have none. Priority is the label koordinator.sh/priority, or
// the highest there is; it preempts no pod unless preempts is set, and none for which NeverPreempts holds does. A Reservation without a
// template makes a pod that asks for
// nothing. defaultScheduler is used where the template names none.
func ReservePod(object *schedulingv1alpha1.Reservation, defaultScheduler string, preempts bool) *corev1.Pod {
	pod := &corev1.Pod{}
	if template := object.Spec.Template; template != nil {
		pod.ObjectMeta, pod.Spec = *template.ObjectMeta.DeepCopy(), *template.Spec.DeepCopy()
	}
	pod.ObjectMeta = metav1.ObjectMeta{
		Namespace: pod.Namespace, Name: string(object.UID), UID: object.UID, ResourceVersion: object.ResourceVersion,
		Generation: object.Generation, CreationTimestamp: object.CreationTimestamp, DeletionTimestamp: object.DeletionTimestamp,
		Labels: inherit(pod.Labels, object.Labels), Annotations: inherit(pod.Annotations, object.Annotations),
	}
	if pod.Namespace == "" {
		pod.Namespace = metav1.NamespaceDefault
	}
	pod.Annotations[AnnotationReservePod] = "true"
	pod.Annotations[AnnotationReservationName] = object.Name
	delete(pod.Annotations, AnnotationReservationNode)
	delete(pod.Annotations, annotationNeverPreempts)
	if policy := pod.Spec.PreemptionPolicy; policy != nil && *policy == corev1.PreemptNever {
		pod.Annotations[annotationNeverPreempts] = "true"
	}
	if pod.Spec.NodeName != "" {
		pod.Annotations[AnnotationReservationNode] = pod.Spec.NodeName
	}
	pod.Spec.NodeName = object.Status.NodeName
	pod.Spec.Priority = new(priorityOf(object))
	pod.Spec.PreemptionPolicy = nil
	if !preempts {
		pod.Spec.PreemptionPolicy = new(corev1.PreemptNever)
	}
	if pod.Spec.SchedulerName == "" {
		pod.Spec.SchedulerName = defaultScheduler
	}
	return pod
}

// inherit returns the first map with what only the second has.
func inherit(own, parent map[string]string) map[string]string {
	merged := make(map[string]string, len(own)+len(parent)+3)
	maps.Copy(merged, parent)
	maps.Copy(merged, own)
	return merged
}

func priorityOf(object *schedulingv1alpha1.Reservation) int32 {
	value, err := strconv.ParseInt(object.Labels[extension.LabelPodPriority], 10, 32)
	if err != nil {
		return math.MaxInt32
	}
	return int32(value)
}
