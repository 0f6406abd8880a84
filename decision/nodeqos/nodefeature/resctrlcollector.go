package nodefeature

// ResctrlCollector measures the use of the cache and the memory bandwidth.
var ResctrlCollector = Spec{
	Name:       "ResctrlCollector",
	Kind:       Other,
	Summary:    "reads what each group uses of the cache and of the memory bandwidth",
	Docs:       "isolation.md#cache-and-memory-bandwidth",
	Configured: alwaysReports,
}
