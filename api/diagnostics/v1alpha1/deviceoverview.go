package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// DeviceState is how the devices of one type on a node fare, in one word.
type DeviceState string

const (
	// DeviceOverheld is a type with a device of which pods hold more than it offers.
	DeviceOverheld DeviceState = "Overheld"
	// DeviceStray is a type of which a pod holds a device that is gone, replaced or not healthy.
	DeviceStray DeviceState = "Stray"
	// DeviceUnhealthy is a type with a device that is not healthy.
	DeviceUnhealthy DeviceState = "Unhealthy"
	// DeviceUnknown is a type of which it is not known what pods hold.
	DeviceUnknown DeviceState = "Unknown"
	// DeviceFull is a type of which nothing can be allocated.
	DeviceFull DeviceState = "Full"
	// DeviceUsed is a type of which pods hold something.
	DeviceUsed DeviceState = "Used"
	// DeviceIdle is a type of which no pod holds anything.
	DeviceIdle DeviceState = "Idle"
	// DeviceUnmanaged is a type that koord-scheduler does not allocate.
	DeviceUnmanaged DeviceState = "Unmanaged"
)

// DeviceOverview is the devices of one node: what they offer, what pods and Reservations hold of them and what is free. It is a node of
// `koordctl top devices`.
//
// +kubebuilder:object:root=true
type DeviceOverview struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Types of devices that the node has, or that a pod on it holds: gpu, rdma and fpga first.
	Types []DeviceTypeOverview `json:"types"`
	// Partitions of GPUs that the Device lists, or that its model has, the smallest first.
	// +optional
	Partitions []DevicePartition `json:"partitions,omitempty"`
	// HonorsPartitions is true where whole GPUs are allocated by partition only.
	// +optional
	HonorsPartitions bool `json:"honorsPartitions,omitempty"`
	// Problems of the Device; what cannot be read of it is left out.
	// +optional
	Problems []string `json:"problems,omitempty"`
	// Findings about what pods hold.
	// +optional
	Findings []Finding `json:"findings,omitempty"`
}

// DeviceTypeOverview is the devices of one type. What depends on pods is absent where they cannot be seen.
type DeviceTypeOverview struct {
	// Type such as gpu.
	Type string `json:"type"`
	// State of the type, and Reason for it where it is a problem.
	State DeviceState `json:"state"`
	// +optional
	Reason string `json:"reason,omitempty"`
	// Model of GPUs, where it is reported.
	// +optional
	Model string `json:"model,omitempty"`
	// Devices there are, and Healthy how many of them are healthy.
	Devices int32 `json:"devices"`
	Healthy int32 `json:"healthy"`
	// FreePercent is the sum of what is free, where 100 is one device. IdleDevices are those that nothing holds: the rest of
	// FreePercent is in pieces.
	// +optional
	FreePercent *int64 `json:"freePercent,omitempty"`
	// +optional
	IdleDevices *int32 `json:"idleDevices,omitempty"`
	// LargestDevices is how many whole devices one more pod can get, and LargestPercent the share of one that it can get where it can get
	// no whole one. GPU partitions count where the node honors them; CPUs, memory and NUMA alignment do not.
	// +optional
	LargestDevices *int32 `json:"largestDevices,omitempty"`
	// +optional
	LargestPercent *int64 `json:"largestPercent,omitempty"`
	// Holders counts the pods and Reservations that hold devices of the type.
	Holders int32 `json:"holders"`
	// Resources are the sums over the healthy devices.
	// +optional
	Resources []DeviceResource `json:"resources,omitempty"`
	// Minors are the devices one by one.
	// +optional
	Minors []DeviceMinor `json:"minors,omitempty"`
}

// DeviceResource is one resource of a device, in its unit.
type DeviceResource struct {
	// Resource such as koordinator.sh/gpu-core.
	Resource string `json:"resource"`
	Unit     Unit   `json:"unit"`
	// Total that is offered, Held by what can be seen, and Free. A device that is not healthy has nothing free. Free is absent where not
	// everything that may hold a device can be seen.
	Total int64 `json:"total"`
	Held  int64 `json:"held"`
	// +optional
	Free *int64 `json:"free,omitempty"`
}

// DeviceMinor is one device.
type DeviceMinor struct {
	// Minor number of the device, and its ID where it has one.
	Minor int32 `json:"minor"`
	// +optional
	ID string `json:"id,omitempty"`
	// Healthy is true for a device that can be allocated. Reason says why it cannot, where the Device says so.
	Healthy bool `json:"healthy"`
	// +optional
	Reason string `json:"reason,omitempty"`
	// NUMANode, Socket, PCIe switch and BusID place the device, where that is reported.
	// +optional
	NUMANode *int32 `json:"numaNode,omitempty"`
	// +optional
	Socket *int32 `json:"socket,omitempty"`
	// +optional
	PCIe string `json:"pcie,omitempty"`
	// +optional
	BusID string `json:"busID,omitempty"`
	// FreePercent is what of the device is free: that of the resource of which the least is free.
	// +optional
	FreePercent *int64 `json:"freePercent,omitempty"`
	// Resources of the device.
	// +optional
	Resources []DeviceResource `json:"resources,omitempty"`
	// VirtualFunctions of a network card, and VirtualFunctionsHeld how many of them are held.
	// +optional
	VirtualFunctions int32 `json:"virtualFunctions,omitempty"`
	// +optional
	VirtualFunctionsHeld int32 `json:"virtualFunctionsHeld,omitempty"`
	// Near are the network cards near a GPU, or the GPUs near a network card: on the same PCIe switch, or else on the same NUMA node.
	// +optional
	Near []DevicePeer `json:"near,omitempty"`
	// Holders are the pods and Reservations that hold the device.
	// +optional
	Holders []DeviceHolder `json:"holders,omitempty"`
}

// DevicePeer is a device close to another.
type DevicePeer struct {
	Type  string `json:"type"`
	Minor int32  `json:"minor"`
	// Scope that both are in: PCIe or NUMANode.
	Scope string `json:"scope"`
}

// DeviceHolder is a pod or a Reservation that holds a device.
type DeviceHolder struct {
	// Kind is Pod or Reservation.
	Kind string `json:"kind"`
	// +optional
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
	// Percent of the device: that of the resource of which the most is held.
	Percent int64 `json:"percent"`
	// +optional
	Resources []ForecastAmount `json:"resources,omitempty"`
}

// DevicePartition is a set of GPUs that are linked, and allocated together.
type DevicePartition struct {
	// Minors of the GPUs, and Idle how many of them nothing holds; all are where the partition can be allocated.
	Minors []int32 `json:"minors"`
	// +optional
	Idle *int32 `json:"idle,omitempty"`
	// Score by which partitions of the same size are preferred, the highest first.
	// +optional
	Score int32 `json:"score,omitempty"`
}

// DeviceOverviewList is what `koordctl top devices -o json` prints.
//
// +kubebuilder:object:root=true
type DeviceOverviewList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []DeviceOverview `json:"items"`
	// Incomplete names what could not be seen, and why; empty when the list is whole.
	// +optional
	Incomplete []string `json:"incomplete,omitempty"`
}
