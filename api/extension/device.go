package extension

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
)

// Keys of accelerators on pods.
const (
	// AnnotationDeviceAllocated is what the scheduler allocated.
	AnnotationDeviceAllocated = SchedulingDomainPrefix + "device-allocated"
	// AnnotationDeviceAllocateHint constrains the devices to allocate.
	AnnotationDeviceAllocateHint = SchedulingDomainPrefix + "device-allocate-hint"
	// AnnotationDeviceJointAllocate allocates devices of several types close to each other.
	AnnotationDeviceJointAllocate = SchedulingDomainPrefix + "device-joint-allocate"
)

// DeviceAllocations are the devices of a pod, by type.
type DeviceAllocations map[schedulingv1alpha1.DeviceType][]*DeviceAllocation

// DeviceAllocation is one device, or a share of it.
type DeviceAllocation struct {
	// Minor number of the device.
	Minor int32 `json:"minor"`
	// Resources taken from it.
	Resources corev1.ResourceList `json:"resources"`
	// ID identifies devices without a meaningful minor number, such as network cards.
	ID string `json:"id,omitempty"`
	// Extension has details that only some types know.
	Extension *DeviceAllocationExtension `json:"extension,omitempty"`
}

// DeviceAllocationExtension has details that only some types know.
type DeviceAllocationExtension struct {
	VirtualFunctions          []VirtualFunction `json:"vfs,omitempty"`
	GPUSharedResourceTemplate string            `json:"gpuSharedResourceTemplate,omitempty"`
}

// VirtualFunction is an allocated virtual function.
type VirtualFunction struct {
	Minor int    `json:"minor,omitempty"`
	BusID string `json:"busID,omitempty"`
}

// DeviceAllocateHints constrain the devices to allocate, by type.
type DeviceAllocateHints map[schedulingv1alpha1.DeviceType]*DeviceHint

// DeviceHint constrains the devices of one type.
type DeviceHint struct {
	// Selector of device labels.
	Selector *metav1.LabelSelector `json:"selector,omitempty"`
	// VFSelector of virtual-function labels.
	VFSelector *metav1.LabelSelector `json:"vfSelector,omitempty"`
	// AllocateStrategy says how the request is spread.
	AllocateStrategy DeviceAllocateStrategy `json:"allocateStrategy,omitempty"`
	// RequiredTopologyScope says how close the devices must be.
	RequiredTopologyScope DeviceTopologyScope `json:"requiredTopologyScope,omitempty"`
	// ExclusivePolicy says what is not shared with pods of the same policy.
	ExclusivePolicy DeviceExclusivePolicy `json:"exclusivePolicy,omitempty"`
}

// DeviceAllocateStrategy says how a request is spread over devices.
type DeviceAllocateStrategy string

const (
	// DeviceAllocateStrategyApplyForAll requests the amount from every device that matches.
	DeviceAllocateStrategyApplyForAll DeviceAllocateStrategy = "ApplyForAll"
	// DeviceAllocateStrategyRequestsAsCount reads the amount as a number of devices.
	DeviceAllocateStrategyRequestsAsCount DeviceAllocateStrategy = "RequestsAsCount"
)

// DeviceTopologyScope says how close devices must be.
type DeviceTopologyScope string

// The scopes, narrowest first.
const (
	DeviceTopologyScopeDevice   DeviceTopologyScope = "Device"
	DeviceTopologyScopePCIe     DeviceTopologyScope = "PCIe"
	DeviceTopologyScopeNUMANode DeviceTopologyScope = "NUMANode"
	DeviceTopologyScopeNode     DeviceTopologyScope = "Node"
)

// DeviceExclusivePolicy says what is not shared.
type DeviceExclusivePolicy string

const (
	// DeviceExclusivePolicyDevice shares no device.
	DeviceExclusivePolicyDevice DeviceExclusivePolicy = "DeviceLevel"
	// DeviceExclusivePolicyPCIe shares no PCIe switch.
	DeviceExclusivePolicyPCIe DeviceExclusivePolicy = "PCIeLevel"
)

// DeviceJointAllocate allocates devices of several types close to each other.
type DeviceJointAllocate struct {
	DeviceTypes []schedulingv1alpha1.DeviceType `json:"deviceTypes,omitempty"`
	// RequiredScope is SamePCIe, or empty for best effort.
	RequiredScope DeviceJointAllocateScope `json:"requiredScope,omitempty"`
}

// DeviceJointAllocateScope is the scope of a joint allocation.
type DeviceJointAllocateScope string

// DeviceJointAllocateScopeSamePCIe demands one PCIe switch.
const DeviceJointAllocateScopeSamePCIe DeviceJointAllocateScope = "SamePCIe"

// GetDeviceAllocations decodes AnnotationDeviceAllocated.
func GetDeviceAllocations(annotations map[string]string) (DeviceAllocations, error) {
	return decodeOr[DeviceAllocations](annotations, AnnotationDeviceAllocated)
}

// SetDeviceAllocations writes AnnotationDeviceAllocated; nil removes it.
func SetDeviceAllocations(obj metav1.Object, allocations DeviceAllocations) error {
	if allocations == nil {
		removeAnnotation(obj, AnnotationDeviceAllocated)
		return nil
	}
	return EncodeAnnotation(obj, AnnotationDeviceAllocated, &allocations)
}

// GetDeviceAllocateHints decodes AnnotationDeviceAllocateHint.
func GetDeviceAllocateHints(annotations map[string]string) (DeviceAllocateHints, error) {
	return decodeOr[DeviceAllocateHints](annotations, AnnotationDeviceAllocateHint)
}

// SetDeviceAllocateHints writes AnnotationDeviceAllocateHint; nil removes it.
func SetDeviceAllocateHints(obj metav1.Object, hints DeviceAllocateHints) error {
	if hints == nil {
		removeAnnotation(obj, AnnotationDeviceAllocateHint)
		return nil
	}
	return EncodeAnnotation(obj, AnnotationDeviceAllocateHint, &hints)
}

// GetDeviceJointAllocate decodes AnnotationDeviceJointAllocate.
func GetDeviceJointAllocate(annotations map[string]string) (*DeviceJointAllocate, error) {
	return DecodeAnnotation[DeviceJointAllocate](annotations, AnnotationDeviceJointAllocate)
}

// SetDeviceJointAllocate writes AnnotationDeviceJointAllocate.
func SetDeviceJointAllocate(obj metav1.Object, joint *DeviceJointAllocate) error {
	return EncodeAnnotation(obj, AnnotationDeviceJointAllocate, joint)
}
