package batchcgroup

// Trace is the operands of bounds.
type Trace struct {
	RequestMilli int64 `json:"requestMilli"`
	LimitMilli   int64 `json:"limitMilli"`
	LimitMemory  int64 `json:"limitMemory"`
	// BaseQuota is the quota before normalization, 0 where there is none.
	BaseQuota            int64 `json:"baseQuota,omitempty"`
	NormalizationPercent int64 `json:"normalizationPercent,omitempty"`
	// QuotaNote and MemoryNote say why there is no bound; empty when there is.
	QuotaNote  string `json:"quotaNote,omitempty"`
	MemoryNote string `json:"memoryNote,omitempty"`
}
