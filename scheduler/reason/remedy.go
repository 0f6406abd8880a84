package reason

import fwk "k8s.io/kube-scheduler/framework"

// Remedy is a set of kinds of changes.
type Remedy uint8

const (
	// SmallerRequest is a pod that requests less.
	SmallerRequest Remedy = 1 << iota
	// FewerPods is evicting pods from the node. It is named for refusals that preemption is not tried for, and that evictions may lift
	// all the same.
	FewerPods
)

// Has is true for a set with the remedy in it.
func (r Remedy) Has(one Remedy) bool { return r&one != 0 }

// Remediable is a plugin that knows what may lift its refusals beyond what a status says.
type Remediable interface {
	fwk.Plugin
	// Remedies may lift a refusal with the reason. It must be safe for concurrent use.
	Remedies(reason string) Remedy
}
