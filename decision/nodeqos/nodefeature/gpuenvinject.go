package nodefeature

// GPUEnvInject injects the GPUs that the scheduler allocated.
var GPUEnvInject = Spec{
	Name:       "GPUEnvInject",
	Kind:       Other,
	Summary:    "gives containers the GPUs that the scheduler allocated, by environment variables",
	Docs:       "runtime-hooks.md",
	Configured: followsPods,
}
