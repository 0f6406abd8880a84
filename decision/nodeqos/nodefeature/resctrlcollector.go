package nodefeature

// ResctrlCollector measures the use of the cache and the memory bandwidth.
var ResctrlCollector = Spec{
	Name:       "ResctrlCollector",
	Kind:       Other,
	Summary:    "measures the cache and the memory bandwidth that each resctrl group uses",
	Docs:       "isolation.md#cache-and-memory-bandwidth",
	Configured: alwaysReports,
}
