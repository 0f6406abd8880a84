package nodefeature

// BatchResource bounds batch and mid pods.
var BatchResource = Spec{
	Name:       "BatchResource",
	Default:    true,
	Kind:       Values,
	Summary:    "sets the CPU shares, CPU quota and memory limit of batch and mid pods",
	Decision:   "decision/nodeqos/batchcgroup",
	Docs:       "node-agent.md#features",
	Configured: followsPods,
}
