package v1alpha1

import (
	"k8s.io/apimachinery/pkg/util/intstr"
)

// CPUQOSPolicy is the kernel feature that ranks pods on a CPU.
type CPUQOSPolicy string

const (
	// CPUQOSPolicyGroupIdentity uses Group Identity (bvt); the default.
	CPUQOSPolicyGroupIdentity CPUQOSPolicy = "groupIdentity"
	// CPUQOSPolicyCoreSched uses core scheduling and idle cgroups.
	CPUQOSPolicyCoreSched CPUQOSPolicy = "coreSched"
)

// NETQOSPolicy is what enforces bandwidth.
type NETQOSPolicy string

const (
	// NETQOSPolicyTC uses traffic control; the default.
	NETQOSPolicyTC NETQOSPolicy = "tc"
	// NETQOSPolicyTerwayQos uses Terway.
	NETQOSPolicyTerwayQos NETQOSPolicy = "terway-qos"
)

// ResourceQOSStrategy is kernel settings by QoS class.
//
// +kubebuilder:pruning:PreserveUnknownFields
type ResourceQOSStrategy struct {
	// Policies choose between kernel features.
	Policies *ResourceQOSPolicies `json:"policies,omitempty"`
	// LSRClass is for LSE and LSR pods.
	LSRClass *ResourceQOS `json:"lsrClass,omitempty"`
	// LSClass is for LS pods.
	LSClass *ResourceQOS `json:"lsClass,omitempty"`
	// BEClass is for BE pods.
	BEClass *ResourceQOS `json:"beClass,omitempty"`
	// SystemClass is for SYSTEM pods.
	SystemClass *ResourceQOS `json:"systemClass,omitempty"`
	// CgroupRoot is for the root cgroup.
	CgroupRoot *ResourceQOS `json:"cgroupRoot,omitempty"`
}

// ResourceQOSPolicies choose between kernel features.
//
// +kubebuilder:pruning:PreserveUnknownFields
type ResourceQOSPolicies struct {
	// CPUPolicy is groupIdentity by default.
	CPUPolicy *CPUQOSPolicy `json:"cpuPolicy,omitempty"`
	// NETQOSPolicy is tc by default.
	NETQOSPolicy *NETQOSPolicy `json:"netQOSPolicy,omitempty"`
}

// ResourceQOS is the kernel settings of one class.
//
// +kubebuilder:pruning:PreserveUnknownFields
type ResourceQOS struct {
	CPUQOS     *CPUQOSCfg     `json:"cpuQOS,omitempty"`
	MemoryQOS  *MemoryQOSCfg  `json:"memoryQOS,omitempty"`
	BlkIOQOS   *BlkIOQOSCfg   `json:"blkioQOS,omitempty"`
	ResctrlQOS *ResctrlQOSCfg `json:"resctrlQOS,omitempty"`
	NetworkQOS *NetworkQOSCfg `json:"networkQOS,omitempty"`
}

// CPUQOSCfg is CPUQOS with a switch.
//
// +kubebuilder:pruning:PreserveUnknownFields
type CPUQOSCfg struct {
	// Enable the settings; false by default, which resets the kernel's values.
	Enable *bool `json:"enable,omitempty"`
	CPUQOS `json:",inline"`
}

// CPUQOS ranks pods on a CPU.
//
// +kubebuilder:pruning:PreserveUnknownFields
type CPUQOS struct {
	// GroupIdentity is cpu.bvt_warp_ns: -1 to 2, higher values run first.
	GroupIdentity *int64 `json:"groupIdentity,omitempty"`
	// SchedIdle is cpu.idle: 1 runs only when nothing else does. For policy coreSched.
	SchedIdle *int64 `json:"schedIdle,omitempty"`
	// CoreExpeller keeps idle pods off the physical cores in use. For policy coreSched.
	CoreExpeller *bool `json:"coreExpeller,omitempty"`
}

// ResctrlQOSCfg is ResctrlQOS with a switch.
//
// +kubebuilder:pruning:PreserveUnknownFields
type ResctrlQOSCfg struct {
	// Enable the settings; false by default, which resets the kernel's values.
	Enable     *bool `json:"enable,omitempty"`
	ResctrlQOS `json:",inline"`
}

// ResctrlQOS is a share of last-level cache and memory bandwidth.
//
// +kubebuilder:pruning:PreserveUnknownFields
type ResctrlQOS struct {
	// CATRangeStartPercent is where the share of the cache ways begins.
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100
	CATRangeStartPercent *int64 `json:"catRangeStartPercent,omitempty"`
	// CATRangeEndPercent is where the share of the cache ways ends.
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100
	CATRangeEndPercent *int64 `json:"catRangeEndPercent,omitempty"`
	// MBAPercent of the memory bandwidth.
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100
	MBAPercent *int64 `json:"mbaPercent,omitempty"`
}

// NetworkQOSCfg is NetworkQOS with a switch.
//
// +kubebuilder:pruning:PreserveUnknownFields
type NetworkQOSCfg struct {
	// Enable the settings; false by default.
	Enable     *bool `json:"enable,omitempty"`
	NetworkQOS `json:",inline"`
}

// NetworkQOS is bandwidth: an integer is percent of the node's, a string is bits per second, such as "50M".
//
// +kubebuilder:pruning:PreserveUnknownFields
type NetworkQOS struct {
	// IngressRequest is guaranteed for incoming traffic.
	// +kubebuilder:default=0
	IngressRequest *intstr.IntOrString `json:"ingressRequest,omitempty"`
	// IngressLimit bounds incoming traffic.
	// +kubebuilder:default=100
	IngressLimit *intstr.IntOrString `json:"ingressLimit,omitempty"`
	// EgressRequest is guaranteed for outgoing traffic.
	// +kubebuilder:default=0
	EgressRequest *intstr.IntOrString `json:"egressRequest,omitempty"`
	// EgressLimit bounds outgoing traffic.
	// +kubebuilder:default=100
	EgressLimit *intstr.IntOrString `json:"egressLimit,omitempty"`
}
