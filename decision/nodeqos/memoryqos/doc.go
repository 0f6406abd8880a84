// Package memoryqos decides how the kernel protects and reclaims the memory of pods.
//
//	memory.min  = request x minLimitPercent
//	memory.low  = request x lowLimitPercent, at least memory.min
//	memory.high = request + (limit, or else the node's allocatable, - request) x throttlingPercent, down to a whole page,
//	              at least memory.min; without a throttlingPercent there is no bound
//	memory.pagecache_limit.size = pageCacheLimitSize, or else limit x pageCacheLimitPercent, down to a whole page, at most the limit
//
// Groups of pods protect the sum of what their pods protect, and the group of all pods that of all groups: a group that
// protected less would take the protection from its pods. Batch and mid pods are measured by their own resources. What is
// switched off is reset to what the kernel begins with.
//
// On kernels without watermarks per group, the agent helps by reclaiming a bounded amount when a group comes close to
// its limit.
package memoryqos
