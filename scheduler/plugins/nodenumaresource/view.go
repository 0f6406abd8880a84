package nodenumaresource

import (
	"maps"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	fwk "k8s.io/kube-scheduler/framework"

	"koordinator.sh/koord/decision/scheduling/numa"
	"koordinator.sh/koord/scheduler/part"
	"koordinator.sh/koord/scheduler/state/topologies"
)

// view is the CPU topologies of the cluster with those of the nodes that explanations add to it.
type view struct {
	State
	added map[string]*addedNode
}

var (
	_ part.NodeAdder     = &view{}
	_ part.NodeDescriber = &view{}
)

// addedNode offers what the agent of the node it is like reports. It is safe for concurrent use.
type addedNode struct {
	like  string
	mutex sync.Mutex
	// object that offer was read from last.
	object *corev1.Node
	offer  *numa.Node
}

// shown is the State of the plugin in explanations.
type shown struct{ *view }

func simulate(state *topologies.State, hooks *Hooks) part.Simulation {
	read := &shown{&view{State: state}}
	return part.NewSimulation(Factory(read, hooks), func(v *view) { read.view = v })
}

// WithNode implements part.NodeAdder.
func (v *view) WithNode(node *corev1.Node, like string, _ time.Time) part.View {
	edited := &view{State: v.State, added: map[string]*addedNode{node.Name: {like: like}}}
	maps.Copy(edited.added, v.added)
	return edited
}

// DescribeNode implements part.NodeDescriber: nodes with a report differ from those without.
func (v *view) DescribeNode(name string) string {
	if v.Report(name) != nil {
		return "topology"
	}
	return ""
}

// Node implements State.
func (v *view) Node(object *corev1.Node) *numa.Node {
	added := v.added[object.Name]
	if added == nil {
		return v.State.Node(object)
	}
	added.mutex.Lock()
	defer added.mutex.Unlock()
	if added.object != object {
		added.object, added.offer = object, numa.Observe(object, v.Report(added.like))
	}
	return added.offer
}

// Ledger implements State. Nothing on an added node holds CPUs.
func (v *view) Ledger(info fwk.NodeInfo) *numa.Ledger {
	if v.added[info.Node().Name] == nil {
		return v.State.Ledger(info)
	}
	return numa.NewLedger(v.Node(info.Node()), nil)
}

// Reserve does nothing: what a supposed pod holds, its annotations say.
func (v *view) Reserve(string, *corev1.Pod, numa.Allocation) {}

// Unreserve does nothing.
func (v *view) Unreserve(types.UID) {}
