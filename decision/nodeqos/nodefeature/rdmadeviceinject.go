package nodefeature

// RDMADeviceInject injects the RDMA devices that the scheduler allocated.
var RDMADeviceInject = Spec{
	Name:       "RDMADeviceInject",
	Kind:       Other,
	Summary:    "passes to containers the RDMA devices that the scheduler allocated",
	Docs:       "runtime-hooks.md",
	Configured: followsPods,
}
