package nodefeature

// CPUSetAllocator puts pods on the CPUs that the scheduler assigned to them.
var CPUSetAllocator = Spec{
	Name:       "CPUSetAllocator",
	Default:    true,
	Kind:       Values,
	Summary:    "pins pods to the CPUs that the scheduler allocated and lifts their CPU quota; pins services to the shared CPUs",
	Decision:   "decision/nodeqos/cpupool",
	Docs:       "node-agent.md#features",
	Configured: followsPods,
}
