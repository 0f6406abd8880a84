package nodefeature

// CoreSched keeps pods of different groups off the same physical core.
var CoreSched = Spec{
	Name:       "CoreSched",
	Kind:       Values,
	Summary:    "pods of different groups never run on one physical core at the same time",
	Decision:   "decision/nodeqos/coresched",
	Docs:       "isolation.md#core-scheduling",
	Configured: followsPods,
}
