package nodefeature

// GPUEnvInject injects the GPUs that the scheduler allocated.
var GPUEnvInject = Spec{
	Name:       "GPUEnvInject",
	Kind:       Other,
	Summary:    "passes to containers the GPUs that the scheduler allocated, in environment variables",
	Docs:       "runtime-hooks.md",
	Configured: followsPods,
}
