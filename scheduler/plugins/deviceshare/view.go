package deviceshare

import (
	"maps"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	fwk "k8s.io/kube-scheduler/framework"

	"koordinator.sh/koord/decision/scheduling/device"
	"koordinator.sh/koord/scheduler/part"
	"koordinator.sh/koord/scheduler/plugins/nodenumaresource"
)

// view is the devices of the cluster with those of the nodes that explanations add to it.
type view struct {
	State
	// like is the node whose devices an added node has, by its name.
	like map[string]string
}

var (
	_ part.NodeAdder     = &view{}
	_ part.NodeDescriber = &view{}
)

// shown is the State of the plugin in explanations.
type shown struct{ *view }

func simulate(state State, hooks *Hooks, alignment *nodenumaresource.Hooks) part.Simulation {
	read := &shown{&view{State: state}}
	return part.NewSimulation(Factory(read, hooks, alignment), func(v *view) { read.view = v })
}

// WithNode implements part.NodeAdder.
func (v *view) WithNode(node *corev1.Node, like string, _ time.Time) part.View {
	edited := &view{State: v.State, like: map[string]string{node.Name: like}}
	maps.Copy(edited.like, v.like)
	return edited
}

// DescribeNode implements part.NodeDescriber: nodes with devices differ from those without.
func (v *view) DescribeNode(name string) string {
	if v.Node(name) != nil {
		return "devices"
	}
	return ""
}

// Node implements State.
func (v *view) Node(name string) *device.Node {
	if like, added := v.like[name]; added {
		return v.State.Node(like)
	}
	return v.State.Node(name)
}

// Ledger implements State. Nothing on an added node holds devices.
func (v *view) Ledger(info fwk.NodeInfo) *device.Ledger {
	like, added := v.like[info.Node().Name]
	if !added {
		return v.State.Ledger(info)
	}
	offer := v.State.Node(like)
	if offer == nil {
		return nil
	}
	return device.NewLedger(offer, info.Node().Labels, nil)
}

// Reserve does nothing: what a supposed pod holds, its annotations say.
func (v *view) Reserve(string, *corev1.Pod, device.Allocation) {}

// Unreserve does nothing.
func (v *view) Unreserve(types.UID) {}
