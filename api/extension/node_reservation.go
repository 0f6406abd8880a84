package extension

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// AnnotationNodeReservation keeps resources of a node for processes outside of Kubernetes.
const AnnotationNodeReservation = NodeDomainPrefix + "reservation"

// NodeReservationApplyPolicy says what a reservation is taken from.
type NodeReservationApplyPolicy string

const (
	// NodeReservationApplyPolicyDefault takes it from what can be scheduled, and from the CPUs to bind.
	NodeReservationApplyPolicyDefault NodeReservationApplyPolicy = "Default"
	// NodeReservationApplyPolicyReservedCPUsOnly takes it from the CPUs to bind only.
	NodeReservationApplyPolicyReservedCPUsOnly NodeReservationApplyPolicy = "ReservedCPUsOnly"
)

// NodeReservation is what is kept for processes outside of Kubernetes.
type NodeReservation struct {
	// Resources kept.
	Resources corev1.ResourceList `json:"resources,omitempty"`
	// ReservedCPUs is a Linux CPU list; its size wins over the cpu of Resources.
	ReservedCPUs string `json:"reservedCPUs,omitempty"`
	// ApplyPolicy is Default when empty.
	ApplyPolicy NodeReservationApplyPolicy `json:"applyPolicy,omitempty"`
}

// GetNodeReservation decodes AnnotationNodeReservation and checks its CPU list and that no quantity is negative.
func GetNodeReservation(annotations map[string]string) (*NodeReservation, error) {
	reservation, err := DecodeAnnotation[NodeReservation](annotations, AnnotationNodeReservation)
	if reservation == nil || err != nil {
		return nil, err
	}
	if _, err := ParseCPUList(reservation.ReservedCPUs); err != nil {
		return nil, fmt.Errorf("decode annotation %q: %w", AnnotationNodeReservation, err)
	}
	for name, quantity := range reservation.Resources {
		if quantity.Sign() < 0 {
			return nil, fmt.Errorf("decode annotation %q: %.80q is negative", AnnotationNodeReservation, name)
		}
	}
	return reservation, nil
}

// SetNodeReservation writes AnnotationNodeReservation.
func SetNodeReservation(obj metav1.Object, reservation *NodeReservation) error {
	return EncodeAnnotation(obj, AnnotationNodeReservation, reservation)
}
