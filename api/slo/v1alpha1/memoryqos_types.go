package v1alpha1

// MemoryQOSCfg is MemoryQOS with a switch.
//
// +kubebuilder:pruning:PreserveUnknownFields
type MemoryQOSCfg struct {
	// Enable the settings; false by default, which resets the kernel's values.
	Enable    *bool `json:"enable,omitempty"`
	MemoryQOS `json:",inline"`
}

// MemoryQOS protects and reclaims memory. Percentages are of the pod's request or limit.
//
// +kubebuilder:pruning:PreserveUnknownFields
type MemoryQOS struct {
	// MinLimitPercent of the request is memory.min: never reclaimed.
	// +kubebuilder:validation:Minimum=0
	MinLimitPercent *int64 `json:"minLimitPercent,omitempty"`
	// LowLimitPercent of the request is memory.low: reclaimed last.
	// +kubebuilder:validation:Minimum=0
	LowLimitPercent *int64 `json:"lowLimitPercent,omitempty"`
	// ThrottlingPercent places memory.high between request and limit; 0 turns it off.
	// +kubebuilder:validation:Minimum=0
	ThrottlingPercent *int64 `json:"throttlingPercent,omitempty"`
	// WmarkRatio is the percentage of the limit at which background reclaim begins; 0 turns it off.
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100
	WmarkRatio *int64 `json:"wmarkRatio,omitempty"`
	// WmarkScalePermill is how far below that background reclaim ends, in thousandths.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000
	WmarkScalePermill *int64 `json:"wmarkScalePermill,omitempty"`
	// WmarkMinAdj moves the node's low watermark for the pod: -25 is reclaimed later, 50 earlier.
	// +kubebuilder:validation:Minimum=-25
	// +kubebuilder:validation:Maximum=50
	WmarkMinAdj *int64 `json:"wmarkMinAdj,omitempty"`
	// PageCacheEnable bounds the page cache of the pod, 0 or 1.
	PageCacheEnable *int64 `json:"pageCacheEnable,omitempty"`
	// PageCacheLimitPercent of the limit is the bound.
	PageCacheLimitPercent *int64 `json:"pageCacheLimitPercent,omitempty"`
	// PageCacheLimitSize is the bound in bytes.
	PageCacheLimitSize *int64 `json:"pageCacheLimitSize,omitempty"`
	// PageCacheReclaimSync reclaims in the context of the process, 0 or 1.
	PageCacheReclaimSync *int64 `json:"pageCacheReclaimSync,omitempty"`
	// PriorityEnable lets the out-of-memory killer respect Priority, 0 or 1.
	PriorityEnable *int64 `json:"priorityEnable,omitempty"`
	// Priority for the out-of-memory killer, 0 to 12: lower is killed first.
	Priority *int64 `json:"priority,omitempty"`
	// OomKillGroup kills the whole container, 0 or 1.
	OomKillGroup *int64 `json:"oomKillGroup,omitempty"`
}

// PodMemoryQOSPolicy is where the settings of a pod come from.
type PodMemoryQOSPolicy string

const (
	// PodMemoryQOSPolicyDefault takes the node's.
	PodMemoryQOSPolicyDefault PodMemoryQOSPolicy = "default"
	// PodMemoryQOSPolicyNone turns them off.
	PodMemoryQOSPolicyNone PodMemoryQOSPolicy = "none"
	// PodMemoryQOSPolicyAuto takes recommended ones.
	PodMemoryQOSPolicyAuto PodMemoryQOSPolicy = "auto"
)

// PodMemoryQOSConfig is MemoryQOS of one pod.
//
// +kubebuilder:pruning:PreserveUnknownFields
type PodMemoryQOSConfig struct {
	// Policy is default when empty.
	Policy    PodMemoryQOSPolicy `json:"policy,omitempty"`
	MemoryQOS `json:",inline"`
}
