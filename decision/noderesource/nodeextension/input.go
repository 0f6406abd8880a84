package nodeextension

import (
	corev1 "k8s.io/api/core/v1"

	"koordinator.sh/koord/api/extension"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	topologyv1alpha1 "koordinator.sh/koord/api/topology/v1alpha1"
	"koordinator.sh/koord/decision/core/configmerge"
	"koordinator.sh/koord/decision/core/unknown"
)

// Input is everything that the extensions of one node depend on. Nothing in it is modified.
type Input struct {
	// Node as the API server has it.
	Node *corev1.Node
	// Config in force.
	Config configmerge.Config
	// CPU of the node; nil where it was not looked at: then neither normalization nor amplification is decided, which
	// depends on it.
	CPU *CPU
	// Devices of the node; nil where they were not looked at: then nothing is decided of them.
	Devices *Devices
	// Unknown are the inputs that could not be read. What depends on them is not decided.
	Unknown unknown.Inputs
}

// CPU is what the node agent reported of the cpu.
type CPU struct {
	// Info is nil when it is not known.
	Info *extension.CPUBasicInfo
	// Unknown says why it is not.
	Unknown string
}

// CPUOf is what a NodeResourceTopology says of the cpu; nil stands for a node without one.
func CPUOf(topology *topologyv1alpha1.NodeResourceTopology) *CPU {
	if topology == nil {
		return &CPU{Unknown: "the node has no NodeResourceTopology"}
	}
	info, err := extension.GetCPUBasicInfo(topology.Annotations)
	switch {
	case err != nil:
		return &CPU{Unknown: err.Error()}
	case info == nil:
		return &CPU{Unknown: "the node's NodeResourceTopology does not name it"}
	}
	return &CPU{Info: info}
}

// Devices are the devices of a node, and how they are published.
type Devices struct {
	// Object is nil for a node without a Device.
	Object *schedulingv1alpha1.Device
	// SharedGPU publishes gpu.shared, a hundred a GPU.
	SharedGPU bool
}
