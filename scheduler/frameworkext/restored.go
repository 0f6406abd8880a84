package frameworkext

import (
	"maps"

	fwk "k8s.io/kube-scheduler/framework"
)

const restoredKey fwk.StateKey = "koordinator.sh/restored-nodes"

// Restored is a node as a pod sees it that may use what is reserved there.
type Restored struct {
	// Node is without the pods that hold room for this pod.
	Node fwk.NodeInfo
	// Removed are those pods.
	Removed []fwk.PodInfo
}

type restoredNodes map[string]Restored

// Clone implements StateData. Nodes are not changed once they are written.
func (r restoredNodes) Clone() fwk.StateData { return maps.Clone(r) }

// Restore shows nodes, by name, in another state for the rest of the cycle. A PreFilter plugin calls it, once a cycle.
func Restore(state fwk.CycleState, nodes map[string]Restored) {
	state.Write(restoredKey, restoredNodes(nodes))
}

// NodeOf returns a node as the pod of the cycle sees it: the restored one, or the node itself. Plugins that look nodes up
// by themselves, such as in Reserve, must pass them through it.
func NodeOf(state fwk.CycleState, info fwk.NodeInfo) fwk.NodeInfo {
	if restored, found := restoredIn(state)[info.Node().Name]; found {
		return restored.Node
	}
	return info
}

func restoredIn(state fwk.CycleState) restoredNodes {
	data, err := state.Read(restoredKey)
	nodes, ok := data.(restoredNodes)
	if err != nil || !ok {
		return nil
	}
	return nodes
}
