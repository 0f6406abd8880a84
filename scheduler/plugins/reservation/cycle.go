package reservation

import (
	corev1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"

	decision "koordinator.sh/koord/decision/scheduling/reservation"
	"koordinator.sh/koord/scheduler/state/reservations"
)

const stateKey fwk.StateKey = "koordinator.sh/" + Name

// cycle is what PreFilter found for the pod of one scheduling cycle. It is not changed afterwards.
type cycle struct {
	demand *decision.Demand
	census *decision.Census
	// nodes on which the pod may use reservations.
	nodes map[string]*onNode
	// first is the smallest order among the nominated reservations, 0 when none has one.
	first int64
	// ahead is the pre-allocation of a reserve pod, by node; nil for other pods.
	ahead map[string][]*corev1.Pod
	// refusal is why no pre-allocation is possible anywhere.
	refusal decision.Refusal
}

// onNode is what one node offers to the pod.
type onNode struct {
	// views that the pod matches.
	views []*reservations.View
	// chosen is the one that it gets, nil when it fits into none; score is that of chosen.
	chosen *reservations.View
	score  int64
	// refusal of the last one that it does not fit into.
	refusal decision.Refusal
}

// Clone implements StateData. What PreFilter found does not change.
func (c *cycle) Clone() fwk.StateData { return c }

// cycleOf returns nil for pods that have nothing to do with reservations.
func cycleOf(state fwk.CycleState) *cycle {
	data, err := state.Read(stateKey)
	if found, ok := data.(*cycle); err == nil && ok {
		return found
	}
	return nil
}

// Nominated returns the reservation that the pod of the cycle gets if it is placed on a node.
func Nominated(state fwk.CycleState, node string) (*reservations.View, bool) {
	if c := cycleOf(state); c != nil && c.nodes[node] != nil && c.nodes[node].chosen != nil {
		return c.nodes[node].chosen, true
	}
	return nil, false
}

// amountsOf converts what a NodeInfo counts.
func amountsOf(resource fwk.Resource) decision.Amounts {
	scalars := resource.GetScalarResources()
	amounts := make(decision.Amounts, len(scalars)+3)
	for name, value := range scalars {
		amounts[name] = value
	}
	amounts[corev1.ResourceCPU] = resource.GetMilliCPU()
	amounts[corev1.ResourceMemory] = resource.GetMemory()
	amounts[corev1.ResourceEphemeralStorage] = resource.GetEphemeralStorage()
	return amounts
}
