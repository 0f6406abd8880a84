package nodefeature

// RDMADevices reports RDMA network cards in the Device of the node.
var RDMADevices = Spec{
	Name:       "RDMADevices",
	Kind:       Other,
	Summary:    "reports the RDMA devices in `/sys/class/infiniband`, with their virtual functions",
	Docs:       "node-agent.md#devices",
	Configured: alwaysReports,
}
