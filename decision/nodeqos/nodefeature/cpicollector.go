package nodefeature

// CPICollector finds disturbed services by cycles per instruction.
var CPICollector = Spec{
	Name:       "CPICollector",
	Kind:       Other,
	Summary:    "finds services that are disturbed, by the cycles that their instructions cost",
	Decision:   "decision/nodeqos/interference",
	Docs:       "isolation.md#interference",
	Configured: alwaysReports,
}
