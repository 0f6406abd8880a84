package eviction

import (
	corev1 "k8s.io/api/core/v1"

	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/decision/core/podrequest"
)

// offerNames are the resources of each tier: CPU and memory.
var offerNames = map[podrequest.Tier][2]corev1.ResourceName{
	podrequest.Plain: {corev1.ResourceCPU, corev1.ResourceMemory},
	podrequest.Mid:   {extension.MidCPU, extension.MidMemory},
	podrequest.Batch: {extension.BatchCPU, extension.BatchMemory},
}

// OffersOf are the allocatable resources of a node by tier; nil for a nil node. An offer of nothing beside plain resources
// counts as withdrawn: that is what the manager publishes while it does not know what the node uses.
func OffersOf(node *corev1.Node) map[podrequest.Tier]Offer {
	if node == nil {
		return nil
	}
	out := map[podrequest.Tier]Offer{}
	for tier, names := range offerNames {
		cpu, offersCPU := node.Status.Allocatable[names[0]]
		memory, offersMemory := node.Status.Allocatable[names[1]]
		if !offersCPU && !offersMemory {
			continue
		}
		milli := cpu.Value()
		if tier == podrequest.Plain {
			milli = cpu.MilliValue()
		}
		offer := Offer{Amount: podrequest.Amount{MilliCPU: milli, Memory: memory.Value()}}
		if tier != podrequest.Plain && offer.Amount == (podrequest.Amount{}) {
			offer.Withdrawn = "the node offers none of it, as it does without fresh measurements"
		}
		out[tier] = offer
	}
	return out
}
