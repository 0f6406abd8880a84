package nodefeature

// Accelerators reports GPUs and other accelerators in the Device of the node.
var Accelerators = Spec{
	Name:       "Accelerators",
	Kind:       Other,
	Summary:    "reports the devices that other daemons list in `--accelerator-dir`, or the node's NVIDIA GPUs",
	Docs:       "node-agent.md#devices",
	Configured: alwaysReports,
}
