package loadaware

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"

	"koordinator.sh/koord/decision/scheduling/loadaware"
)

const stateKey fwk.StateKey = "koordinator.sh/" + Name

// cycle is what the plugin knows in one scheduling cycle. It is part of the cycle state.
type cycle struct {
	estimate loadaware.Estimate
	// at is when the cycle began.
	at time.Time
	// scores are the scores that Filter found, for Score to return: by the number of the node's slot, plus one, and so at most
	// loadaware.MaxScore + 1; 0 where it found none. Each node has its own slot and is filtered by one goroutine at a time.
	scores     []uint8
	generation int
}

// Clone implements StateData. Neither verdict nor score depends on the pods for which a clone is made, so that it may share them.
func (c *cycle) Clone() fwk.StateData { return c }

// begin finds out what holds for all nodes.
func (p *Plugin) begin(pod *corev1.Pod) *cycle {
	return &cycle{estimate: p.Estimate(pod), at: p.now()}
}

// remember makes room for the scores of all nodes that are numbered.
func (c *cycle) remember(nodes numbering) {
	c.scores, c.generation = make([]uint8, nodes.next), nodes.generation
}

// cycleOf returns what PreFilter wrote.
func (p *Plugin) cycleOf(state fwk.CycleState, pod *corev1.Pod) *cycle {
	if data, err := state.Read(stateKey); err == nil {
		if found, ok := data.(*cycle); ok {
			return found
		}
	}
	return p.begin(pod)
}

// numbers is true when there is a place for the score of a node.
func (c *cycle) numbers(place *slot) bool {
	return place.number < len(c.scores) && place.generation == c.generation
}

// keptScore returns the score of a node, false when Filter found none.
func (c *cycle) keptScore(place *slot) (int64, bool) {
	if !c.numbers(place) || c.scores[place.number] == 0 {
		return 0, false
	}
	return int64(c.scores[place.number]) - 1, true
}

func (p *Plugin) input(c *cycle, place *slot, node *corev1.Node) loadaware.Input {
	return loadaware.Input{Policy: p.policy, Node: p.observeAt(place, node), Pod: c.estimate, Now: c.at}
}
