package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// DeviceType names a family of accelerators. The set is open: vendors add their own.
type DeviceType string

const (
	// GPU is a graphics or compute accelerator.
	GPU DeviceType = "gpu"
	// FPGA is a field-programmable gate array.
	FPGA DeviceType = "fpga"
	// RDMA is a network card capable of remote direct memory access.
	RDMA DeviceType = "rdma"
	// XPU is any other accelerator.
	XPU DeviceType = "xpu"
)

// Device lists the accelerators of one node; its name is the node's name.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:scope=Cluster
// +kubebuilder:printcolumn:name="Age",type="date",JSONPath=".metadata.creationTimestamp"
type Device struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   DeviceSpec   `json:"spec,omitempty,omitzero"`
	Status DeviceStatus `json:"status,omitempty,omitzero"`
}

// DeviceList is a list of Device.
//
// +kubebuilder:object:root=true
type DeviceList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Device `json:"items"`
}

// DeviceSpec is what the node reported.
//
// +kubebuilder:pruning:PreserveUnknownFields
type DeviceSpec struct {
	// Devices of the node, of every type.
	Devices []DeviceInfo `json:"devices,omitempty"`
}

// DeviceInfo describes one physical device.
//
// +kubebuilder:pruning:PreserveUnknownFields
type DeviceInfo struct {
	// Type of the device. gpu, fpga, rdma and xpu are well known.
	// +kubebuilder:validation:MinLength=1
	Type DeviceType `json:"type,omitempty"`
	// Labels to select devices by, such as the model.
	Labels map[string]string `json:"labels,omitempty"`
	// UUID of the device; for a network card its bus id.
	UUID string `json:"id,omitempty"`
	// Minor number, from 0.
	// +kubebuilder:validation:Minimum=0
	Minor *int32 `json:"minor,omitempty"`
	// ModuleID is the physical slot of the device on its board.
	ModuleID *int32 `json:"moduleID,omitempty"`
	// Health reports whether the device can be allocated.
	// +kubebuilder:default=false
	Health bool `json:"health"`
	// Resources the device offers, by resource name.
	Resources corev1.ResourceList `json:"resources,omitempty"`
	// Topology places the device on sockets, NUMA nodes and PCIe switches.
	Topology *DeviceTopology `json:"topology,omitempty"`
	// VFGroups are the virtual functions of the device, grouped by label.
	VFGroups []VirtualFunctionGroup `json:"vfGroups,omitempty"`
	// Conditions explain an unhealthy device.
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// DeviceTopology places a device in the machine.
//
// +kubebuilder:pruning:PreserveUnknownFields
type DeviceTopology struct {
	// SocketID is the CPU socket.
	SocketID int32 `json:"socketID"`
	// NodeID is the NUMA node, unique across sockets; -1 when the kernel does not know.
	NodeID int32 `json:"nodeID"`
	// PCIEID is the PCIe switch, unique across NUMA nodes.
	PCIEID string `json:"pcieID"`
	// BusID is domain:bus:device.function.
	BusID string `json:"busID,omitempty"`
}

// VirtualFunctionGroup is a set of virtual functions with the same labels.
//
// +kubebuilder:pruning:PreserveUnknownFields
type VirtualFunctionGroup struct {
	// Labels to select virtual functions by.
	Labels map[string]string `json:"labels,omitempty"`
	// VFs of the group.
	VFs []VirtualFunction `json:"vfs,omitempty"`
}

// VirtualFunction is one SR-IOV virtual function.
//
// +kubebuilder:pruning:PreserveUnknownFields
type VirtualFunction struct {
	// Minor number of the virtual function, from 0.
	// +kubebuilder:validation:Minimum=0
	Minor int32 `json:"minor"`
	// BusID is domain:bus:device.function.
	BusID string `json:"busID,omitempty"`
}

// DeviceStatus says who uses the devices.
//
// +kubebuilder:pruning:PreserveUnknownFields
type DeviceStatus struct {
	// Allocations by device type.
	Allocations []DeviceAllocation `json:"allocations,omitempty"`
}

// DeviceAllocation lists the users of the devices of one type.
//
// +kubebuilder:pruning:PreserveUnknownFields
type DeviceAllocation struct {
	// Type of the devices.
	Type DeviceType `json:"type,omitempty"`
	// Entries, one per pod.
	Entries []DeviceAllocationItem `json:"entries,omitempty"`
}

// DeviceAllocationItem is one pod and the devices it holds.
//
// +kubebuilder:pruning:PreserveUnknownFields
type DeviceAllocationItem struct {
	// Name of the pod.
	Name string `json:"name,omitempty"`
	// Namespace of the pod.
	Namespace string `json:"namespace,omitempty"`
	// UUID of the pod.
	UUID string `json:"uuid,omitempty"`
	// Minors of the devices held.
	Minors []int32 `json:"minors,omitempty"`
}
