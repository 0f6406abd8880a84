package nodefeature

// Resctrl divides the cache and the memory bandwidth for single pods.
var Resctrl = Spec{
	Name:       "Resctrl",
	Kind:       Other,
	Summary:    "shares of the cache and of the memory bandwidth for single pods, by annotation",
	Decision:   "decision/nodeqos/resctrl",
	Docs:       "isolation.md#cache-and-memory-bandwidth",
	Configured: followsPods,
}
