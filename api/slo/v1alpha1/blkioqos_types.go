package v1alpha1

// BlkIOQOSCfg is BlkIOQOS with a switch.
//
// +kubebuilder:pruning:PreserveUnknownFields
type BlkIOQOSCfg struct {
	// Enable the settings; false by default.
	Enable   *bool `json:"enable,omitempty"`
	BlkIOQOS `json:",inline"`
}

// BlkIOQOS is settings of block devices.
//
// +kubebuilder:pruning:PreserveUnknownFields
type BlkIOQOS struct {
	Blocks []*BlockCfg `json:"blocks,omitempty"`
}

// BlockType is what the name of a block means.
type BlockType string

const (
	// BlockTypeDevice is a device such as /dev/sdb; for the root cgroup only.
	BlockTypeDevice BlockType = "device"
	// BlockTypeVolumeGroup is an LVM volume group.
	BlockTypeVolumeGroup BlockType = "volumegroup"
	// BlockTypePodVolume is a volume of the pod.
	BlockTypePodVolume BlockType = "podvolume"
)

// BlockCfg is the settings of one block device.
//
// +kubebuilder:pruning:PreserveUnknownFields
type BlockCfg struct {
	Name      string    `json:"name,omitempty"`
	BlockType BlockType `json:"type,omitempty"`
	IOCfg     IOCfg     `json:"ioCfg,omitempty,omitzero"`
}

// IOCfg bounds and weighs input and output. A limit of 0 is no limit.
//
// +kubebuilder:pruning:PreserveUnknownFields
type IOCfg struct {
	// +kubebuilder:validation:Minimum=0
	ReadIOPS *int64 `json:"readIOPS,omitempty"`
	// +kubebuilder:validation:Minimum=0
	WriteIOPS *int64 `json:"writeIOPS,omitempty"`
	// ReadBPS is the read limit in bytes per second.
	// +kubebuilder:validation:Minimum=0
	ReadBPS *int64 `json:"readBPS,omitempty"`
	// WriteBPS is the write limit in bytes per second.
	// +kubebuilder:validation:Minimum=0
	WriteBPS *int64 `json:"writeBPS,omitempty"`
	// IOWeightPercent is the weight among siblings; 100.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100
	IOWeightPercent *int64 `json:"ioWeightPercent,omitempty"`
	// ReadLatency in microseconds above which the disk counts as saturated. Root cgroup only.
	ReadLatency *int64 `json:"readLatency,omitempty"`
	// WriteLatency in microseconds above which the disk counts as saturated. Root cgroup only.
	WriteLatency *int64 `json:"writeLatency,omitempty"`
	// ReadLatencyPercent is the percentile compared with ReadLatency.
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100
	ReadLatencyPercent *int64 `json:"readLatencyPercent,omitempty"`
	// WriteLatencyPercent is the percentile compared with WriteLatency.
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100
	WriteLatencyPercent *int64 `json:"writeLatencyPercent,omitempty"`
	// EnableUserModel takes the cost model of the disk from the fields below; false by default.
	EnableUserModel *bool `json:"enableUserModel,omitempty"`
	// +kubebuilder:validation:Minimum=1
	ModelReadBPS *int64 `json:"modelReadBPS,omitempty"`
	// +kubebuilder:validation:Minimum=1
	ModelWriteBPS *int64 `json:"modelWriteBPS,omitempty"`
	// +kubebuilder:validation:Minimum=1
	ModelReadSeqIOPS *int64 `json:"modelReadSeqIOPS,omitempty"`
	// +kubebuilder:validation:Minimum=1
	ModelWriteSeqIOPS *int64 `json:"modelWriteSeqIOPS,omitempty"`
	// +kubebuilder:validation:Minimum=1
	ModelReadRandIOPS *int64 `json:"modelReadRandIOPS,omitempty"`
	// +kubebuilder:validation:Minimum=1
	ModelWriteRandIOPS *int64 `json:"modelWriteRandIOPS,omitempty"`
}
