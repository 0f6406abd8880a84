package extension

import (
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// AnnotationLoweredCPULimits of a pod says what its CPU limits were before koord-descheduler lowered them. Its value is a LoweredCPULimits in
// JSON. Upstream has no such key.
const AnnotationLoweredCPULimits = DeschedulerDomainPrefix + "lowered-cpu-limits"

// LoweredCPULimits is what gives a pod its CPU limits back.
type LoweredCPULimits struct {
	// Time of the first time that they were lowered.
	Time metav1.Time `json:"time"`
	// Usage is the CPU that the pod was predicted to use then.
	Usage resource.Quantity `json:"usage"`
	// Containers by name; those that are not named kept their limits.
	Containers map[string]LoweredCPULimit `json:"containers"`
}

// LoweredCPULimit is the CPU limit of a container.
type LoweredCPULimit struct {
	// Before it was lowered.
	Before resource.Quantity `json:"before"`
	// After is the limit that was set. Another one in the pod was set by somebody else, and is left alone.
	After resource.Quantity `json:"after"`
}

// GetLoweredCPULimits decodes AnnotationLoweredCPULimits; nil without one.
func GetLoweredCPULimits(annotations map[string]string) (*LoweredCPULimits, error) {
	return DecodeAnnotation[LoweredCPULimits](annotations, AnnotationLoweredCPULimits)
}

// SetLoweredCPULimits writes AnnotationLoweredCPULimits; nil removes it.
func SetLoweredCPULimits(obj metav1.Object, lowered *LoweredCPULimits) error {
	return EncodeAnnotation(obj, AnnotationLoweredCPULimits, lowered)
}
