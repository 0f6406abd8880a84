package nodefeature

// Resctrl divides the cache and the memory bandwidth for single pods.
var Resctrl = Spec{
	Name:       "Resctrl",
	Kind:       Other,
	Summary:    "sets the shares of the last-level cache and of the memory bandwidth of annotated pods",
	Decision:   "decision/nodeqos/resctrl",
	Docs:       "isolation.md#cache-and-memory-bandwidth",
	Configured: followsPods,
}
