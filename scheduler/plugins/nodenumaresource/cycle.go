package nodenumaresource

import (
	"sync"

	fwk "k8s.io/kube-scheduler/framework"

	"koordinator.sh/koord/decision/scheduling/numa"
)

const stateKey fwk.StateKey = "koordinator.sh/" + Name

// cycle is what the plugin knows of the pod of a scheduling cycle.
type cycle struct {
	request *numa.Request
	profile profile
	// hints are the zones that Filter, or Reserve, chose on each node where the pod is aligned, by node name.
	hints sync.Map
}

// Clone implements StateData. Zones are chosen again in the copy, because copies are made to try nodes with other pods on them.
func (c *cycle) Clone() fwk.StateData { return &cycle{request: c.request, profile: c.profile} }

// cycleOf returns what PreFilter wrote, nil when the plugin skips the pod.
func cycleOf(state fwk.CycleState) *cycle {
	data, err := state.Read(stateKey)
	if err != nil {
		return nil
	}
	found, _ := data.(*cycle)
	return found
}

// Affinity is the zones on which the pod of the cycle is aligned on a node, for plugins that come after this one in
// Filter, Score and Reserve; false when it is not aligned there.
func Affinity(state fwk.CycleState, node string) (numa.Hint, bool) {
	c := cycleOf(state)
	if c == nil {
		return numa.Hint{}, false
	}
	found, aligned := c.hints.Load(node)
	hint, _ := found.(numa.Hint)
	return hint, aligned
}
