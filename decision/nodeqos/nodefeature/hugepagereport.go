package nodefeature

// HugePageReport adds huge pages to the zones of the NodeResourceTopology.
var HugePageReport = Spec{
	Name:       "HugePageReport",
	Kind:       Other,
	Summary:    "adds huge pages to the zones of the NodeResourceTopology and subtracts them from memory",
	Docs:       "node-agent.md#topology",
	Configured: alwaysReports,
}
