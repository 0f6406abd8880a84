package v1alpha1

// CPUSuppressPolicy is how best-effort pods are suppressed.
type CPUSuppressPolicy string

const (
	// CPUSetPolicy takes CPUs away from them; the default.
	CPUSetPolicy CPUSuppressPolicy = "cpuset"
	// CPUCfsQuotaPolicy lowers their quota.
	CPUCfsQuotaPolicy CPUSuppressPolicy = "cfsQuota"
)

// CPUEvictPolicy is what the satisfaction of best-effort pods is measured by.
type CPUEvictPolicy string

const (
	// EvictByRealLimitPolicy measures by what suppression leaves them; the default.
	EvictByRealLimitPolicy CPUEvictPolicy = "evictByRealLimit"
	// EvictByAllocatablePolicy measures by the batch-cpu of the node.
	EvictByAllocatablePolicy CPUEvictPolicy = "evictByAllocatable"
)

// ResourceThresholdStrategy says when pods are suppressed and evicted. All percentages are of the node's capacity
// unless the field says otherwise.
//
// +kubebuilder:pruning:PreserveUnknownFields
type ResourceThresholdStrategy struct {
	// Enable the strategy; false by default.
	Enable *bool `json:"enable,omitempty"`

	// CPUSuppressThresholdPercent is the usage of the whole node above which best-effort pods are suppressed; 65.
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100
	CPUSuppressThresholdPercent *int64 `json:"cpuSuppressThresholdPercent,omitempty"`
	// CPUSuppressMinPercent is always left to best-effort pods.
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100
	CPUSuppressMinPercent *int64 `json:"cpuSuppressMinPercent,omitempty"`
	// CPUSuppressPolicy is cpuset, the default, or cfsQuota.
	CPUSuppressPolicy CPUSuppressPolicy `json:"cpuSuppressPolicy,omitempty"`

	// MemoryEvictThresholdPercent is the memory usage above which pods are evicted; 70.
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100
	MemoryEvictThresholdPercent *int64 `json:"memoryEvictThresholdPercent,omitempty"`
	// MemoryEvictLowerPercent is the usage at which eviction stops; two below the threshold by default.
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100
	MemoryEvictLowerPercent *int64 `json:"memoryEvictLowerPercent,omitempty"`

	// CPUEvictBESatisfactionUpperPercent is the satisfaction at which eviction stops: limit over request, in percent.
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100
	CPUEvictBESatisfactionUpperPercent *int64 `json:"cpuEvictBESatisfactionUpperPercent,omitempty"`
	// CPUEvictBESatisfactionLowerPercent is the satisfaction below which best-effort pods are evicted.
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100
	CPUEvictBESatisfactionLowerPercent *int64 `json:"cpuEvictBESatisfactionLowerPercent,omitempty"`
	// CPUEvictBEUsageThresholdPercent is the usage of their limit above which low satisfaction leads to eviction; 90.
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100
	CPUEvictBEUsageThresholdPercent *int64 `json:"cpuEvictBEUsageThresholdPercent,omitempty"`
	// CPUEvictTimeWindowSeconds is the window over which usage is averaged.
	CPUEvictTimeWindowSeconds *int64 `json:"cpuEvictTimeWindowSeconds,omitempty"`
	// CPUEvictPolicy is evictByRealLimit, the default, or evictByAllocatable.
	CPUEvictPolicy CPUEvictPolicy `json:"cpuEvictPolicy,omitempty"`

	// CPUEvictThresholdPercent is the CPU usage above which pods are evicted by priority.
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100
	CPUEvictThresholdPercent *int64 `json:"cpuEvictThresholdPercent,omitempty"`
	// CPUEvictLowerPercent is the usage at which eviction stops; two below the threshold by default.
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100
	CPUEvictLowerPercent *int64 `json:"cpuEvictLowerPercent,omitempty"`
	// EvictEnabledPriorityThreshold is the highest spec.priority that is evicted because of CPU or memory usage.
	EvictEnabledPriorityThreshold *int32 `json:"evictEnabledPriorityThreshold,omitempty"`

	// CPUAllocatableEvictThresholdPercent of the allocatable: if requests exceed it, pods are evicted; 110 is recommended.
	CPUAllocatableEvictThresholdPercent *int64 `json:"cpuAllocatableEvictThresholdPercent,omitempty"`
	// CPUAllocatableEvictLowerPercent is the percentage at which eviction stops; 100 is recommended.
	CPUAllocatableEvictLowerPercent *int64 `json:"cpuAllocatableEvictLowerPercent,omitempty"`
	// MemoryAllocatableEvictThresholdPercent of the allocatable: if requests exceed it, pods are evicted; 110 is recommended.
	MemoryAllocatableEvictThresholdPercent *int64 `json:"memoryAllocatableEvictThresholdPercent,omitempty"`
	// MemoryAllocatableEvictLowerPercent is the percentage at which eviction stops; 100 is recommended.
	MemoryAllocatableEvictLowerPercent *int64 `json:"memoryAllocatableEvictLowerPercent,omitempty"`
	// AllocatableEvictPriorityThreshold is the highest spec.priority evicted for requests; at most 7999.
	AllocatableEvictPriorityThreshold *int32 `json:"allocatableEvictPriorityThreshold,omitempty"`
}

// CPUBurstPolicy says in which ways a container may exceed its CPU limit.
type CPUBurstPolicy string

const (
	// CPUBurstNone in no way; the default.
	CPUBurstNone CPUBurstPolicy = "none"
	// CPUBurstOnly by saving unused quota (cpu.cfs_burst_us).
	CPUBurstOnly CPUBurstPolicy = "cpuBurstOnly"
	// CFSQuotaBurstOnly by a larger quota after throttling.
	CFSQuotaBurstOnly CPUBurstPolicy = "cfsQuotaBurstOnly"
	// CPUBurstAuto in both ways.
	CPUBurstAuto CPUBurstPolicy = "auto"
)

// CPUBurstConfig says how far a container may exceed its CPU limit.
//
// +kubebuilder:pruning:PreserveUnknownFields
type CPUBurstConfig struct {
	// Policy is none by default.
	Policy CPUBurstPolicy `json:"policy,omitempty"`
	// CPUBurstPercent of the limit can be accumulated while idle; 1000.
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=10000
	CPUBurstPercent *int64 `json:"cpuBurstPercent,omitempty"`
	// CFSQuotaBurstPercent of the limit is the largest quota; 300.
	CFSQuotaBurstPercent *int64 `json:"cfsQuotaBurstPercent,omitempty"`
	// CFSQuotaBurstPeriodSeconds is how long the quota may stay larger; -1, the default, means without end.
	CFSQuotaBurstPeriodSeconds *int64 `json:"cfsQuotaBurstPeriodSeconds,omitempty"`
}

// CPUBurstStrategy is CPUBurstConfig of a node.
//
// +kubebuilder:pruning:PreserveUnknownFields
type CPUBurstStrategy struct {
	CPUBurstConfig `json:",inline"`
	// SharePoolThresholdPercent is the usage of the shared CPUs above which quotas shrink again; 50.
	SharePoolThresholdPercent *int64 `json:"sharePoolThresholdPercent,omitempty"`
}
