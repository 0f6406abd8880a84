package nodefeature

// CPUSetAllocator puts pods on the CPUs that the scheduler assigned to them.
var CPUSetAllocator = Spec{
	Name:       "CPUSetAllocator",
	Default:    true,
	Kind:       Values,
	Summary:    "puts pods on the CPUs that the scheduler gave them and lifts their quota; services on the shared ones",
	Decision:   "decision/nodeqos/cpupool",
	Docs:       "node-agent.md#features",
	Configured: followsPods,
}
