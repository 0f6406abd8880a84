package nodefeature

// CoreSched keeps pods of different groups off the same physical core.
var CoreSched = Spec{
	Name:       "CoreSched",
	Kind:       Values,
	Summary:    "keeps pods of different groups from running on the same physical core at the same time",
	Decision:   "decision/nodeqos/coresched",
	Docs:       "isolation.md#core-scheduling",
	Configured: followsPods,
}
