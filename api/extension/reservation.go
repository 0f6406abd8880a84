package extension

import (
	"fmt"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
)

// Keys of reservations and of the pods that use them.
const (
	// LabelReservationIgnored makes a pod blind to reservations: it may take reserved room and becomes no owner.
	LabelReservationIgnored = SchedulingDomainPrefix + "reservation-ignored"
	// LabelReservationOrder prefers reservations with a lower, non-zero order.
	LabelReservationOrder = SchedulingDomainPrefix + "reservation-order"
	// LabelPreAllocationRequired makes a pod wait for a reservation that was allocated ahead for it.
	LabelPreAllocationRequired = SchedulingDomainPrefix + "pre-allocation-required"
	// LabelPodPreAllocatable marks running pods whose resources may be reserved.
	LabelPodPreAllocatable = PodDomainPrefix + "is-pre-allocatable"
	// AnnotationPodPreAllocatablePriority orders such pods: an integer, higher goes first.
	AnnotationPodPreAllocatablePriority = PodDomainPrefix + "pre-allocatable-priority"
	// AnnotationReservationAllocated is the reservation a pod uses.
	AnnotationReservationAllocated = SchedulingDomainPrefix + "reservation-allocated"
	// AnnotationReservationAffinity says which reservations a pod must use.
	AnnotationReservationAffinity = SchedulingDomainPrefix + "reservation-affinity"
	// AnnotationExactMatchReservation lists the resources in which pod and reservation must be equal.
	AnnotationExactMatchReservation = SchedulingDomainPrefix + "exact-match-reservation"
	// AnnotationReservationRestrictedOptions lists the resources a Restricted reservation restricts.
	AnnotationReservationRestrictedOptions = SchedulingDomainPrefix + "reservation-restricted-options"
	// AnnotationReservationPreempted of a Reservation are the pods that the scheduler preempted for it, or tried to, as a list of references
	// in JSON. Upstream has no such key.
	AnnotationReservationPreempted = SchedulingDomainPrefix + "preempted-pods"
	// AnnotationReservationOwners are the owners of a pod in operating mode Reservation.
	AnnotationReservationOwners = SchedulingDomainPrefix + "reservation-owners"
	// AnnotationReservationCurrentOwner is the pod that uses it.
	AnnotationReservationCurrentOwner = SchedulingDomainPrefix + "reservation-current-owner"
)

// ReservationAllocated identifies the reservation a pod uses.
type ReservationAllocated struct {
	Name string    `json:"name,omitempty"`
	UID  types.UID `json:"uid,omitempty"`
}

// ReservationAffinity says which reservations a pod must use.
type ReservationAffinity struct {
	// Name of the only reservation wanted.
	Name string `json:"name,omitempty"`
	// RequiredDuringSchedulingIgnoredDuringExecution selects reservations by their labels.
	RequiredDuringSchedulingIgnoredDuringExecution *ReservationAffinitySelector `json:"requiredDuringSchedulingIgnoredDuringExecution,omitempty"`
	// ReservationSelector are labels the reservation must have.
	ReservationSelector map[string]string `json:"reservationSelector,omitempty"`
	// Tolerations of the taints of reservations.
	Tolerations []corev1.Toleration `json:"tolerations,omitempty"`
}

// ReservationAffinitySelector matches a reservation that matches any of the terms.
type ReservationAffinitySelector struct {
	ReservationSelectorTerms []corev1.NodeSelectorTerm `json:"reservationSelectorTerms,omitempty"`
}

// ExactMatchReservation lists the resources in which pod and reservation must be equal.
type ExactMatchReservation struct {
	ResourceNames []corev1.ResourceName `json:"resourceNames,omitempty"`
}

// ReservationRestrictedOptions lists the resources a Restricted reservation restricts; all it holds when empty.
type ReservationRestrictedOptions struct {
	Resources []corev1.ResourceName `json:"resources,omitempty"`
}

// IsReservationIgnored reports whether the pod is blind to reservations.
func IsReservationIgnored(labels map[string]string) bool {
	return labels[LabelReservationIgnored] == "true"
}

// ReservationOrder parses LabelReservationOrder, 0 when absent.
func ReservationOrder(labels map[string]string) (int64, error) {
	value := labels[LabelReservationOrder]
	if value == "" {
		return 0, nil
	}
	order, err := strconv.ParseInt(value, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("parse label %q: %.40q is not an integer", LabelReservationOrder, value)
	}
	return order, nil
}

// IsReservationAllocateOnce reports whether the reservation ends with its first owner; it does when unset.
func IsReservationAllocateOnce(r *schedulingv1alpha1.Reservation) bool {
	return r.Spec.AllocateOnce == nil || *r.Spec.AllocateOnce
}

// GetReservationAllocated decodes AnnotationReservationAllocated.
func GetReservationAllocated(annotations map[string]string) (*ReservationAllocated, error) {
	return DecodeAnnotation[ReservationAllocated](annotations, AnnotationReservationAllocated)
}

// SetReservationAllocated writes AnnotationReservationAllocated.
func SetReservationAllocated(obj metav1.Object, allocated *ReservationAllocated) error {
	return EncodeAnnotation(obj, AnnotationReservationAllocated, allocated)
}

// GetReservationAffinity decodes AnnotationReservationAffinity.
func GetReservationAffinity(annotations map[string]string) (*ReservationAffinity, error) {
	return DecodeAnnotation[ReservationAffinity](annotations, AnnotationReservationAffinity)
}

// SetReservationAffinity writes AnnotationReservationAffinity.
func SetReservationAffinity(obj metav1.Object, affinity *ReservationAffinity) error {
	return EncodeAnnotation(obj, AnnotationReservationAffinity, affinity)
}

// GetExactMatchReservation decodes AnnotationExactMatchReservation.
func GetExactMatchReservation(annotations map[string]string) (*ExactMatchReservation, error) {
	return DecodeAnnotation[ExactMatchReservation](annotations, AnnotationExactMatchReservation)
}

// SetExactMatchReservation writes AnnotationExactMatchReservation.
func SetExactMatchReservation(obj metav1.Object, match *ExactMatchReservation) error {
	return EncodeAnnotation(obj, AnnotationExactMatchReservation, match)
}

// GetReservationRestrictedOptions decodes AnnotationReservationRestrictedOptions.
func GetReservationRestrictedOptions(annotations map[string]string) (*ReservationRestrictedOptions, error) {
	return DecodeAnnotation[ReservationRestrictedOptions](annotations, AnnotationReservationRestrictedOptions)
}

// SetReservationRestrictedOptions writes AnnotationReservationRestrictedOptions.
func SetReservationRestrictedOptions(obj metav1.Object, options *ReservationRestrictedOptions) error {
	return EncodeAnnotation(obj, AnnotationReservationRestrictedOptions, options)
}

// GetReservationOwners decodes AnnotationReservationOwners.
func GetReservationOwners(annotations map[string]string) ([]schedulingv1alpha1.ReservationOwner, error) {
	return decodeOr[[]schedulingv1alpha1.ReservationOwner](annotations, AnnotationReservationOwners)
}

// GetReservationCurrentOwner decodes AnnotationReservationCurrentOwner.
func GetReservationCurrentOwner(annotations map[string]string) (*corev1.ObjectReference, error) {
	return DecodeAnnotation[corev1.ObjectReference](annotations, AnnotationReservationCurrentOwner)
}

// GetReservationPreempted decodes AnnotationReservationPreempted.
func GetReservationPreempted(annotations map[string]string) ([]corev1.ObjectReference, error) {
	preempted, err := DecodeAnnotation[[]corev1.ObjectReference](annotations, AnnotationReservationPreempted)
	if err != nil || preempted == nil {
		return nil, err
	}
	return *preempted, nil
}
