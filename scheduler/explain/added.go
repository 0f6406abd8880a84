package explain

import (
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	fwk "k8s.io/kube-scheduler/framework"

	"koordinator.sh/koord/decision/scheduling/device"
	"koordinator.sh/koord/decision/scheduling/numa"
	"koordinator.sh/koord/scheduler/plugins/deviceshare"
	"koordinator.sh/koord/scheduler/plugins/nodenumaresource"
)

// addedNode is a node that is supposed to join the cluster. Its agent would report what that of the node it is like reports. It
// is safe for concurrent use.
type addedNode struct {
	name, like string
	mutex      sync.Mutex
	// object that offer was read from last.
	object *corev1.Node
	offer  *numa.Node
}

// simulatedTopologies shows the CPU topologies of the cluster, and those of the nodes that the view in use adds to it.
type simulatedTopologies struct {
	nodenumaresource.State
	simulated *simulatedState
}

// Node implements nodenumaresource.State.
func (s *simulatedTopologies) Node(object *corev1.Node) *numa.Node {
	added := s.simulated.addedNode(object.Name)
	if added == nil {
		return s.State.Node(object)
	}
	added.mutex.Lock()
	defer added.mutex.Unlock()
	if added.object != object {
		added.object, added.offer = object, numa.Observe(object, s.Report(added.like))
	}
	return added.offer
}

// Ledger implements nodenumaresource.State. Nothing on an added node holds CPUs.
func (s *simulatedTopologies) Ledger(info fwk.NodeInfo) *numa.Ledger {
	if s.simulated.addedNode(info.Node().Name) == nil {
		return s.State.Ledger(info)
	}
	return numa.NewLedger(s.Node(info.Node()), nil)
}

// Reserve does nothing: what a supposed pod holds, its annotations say.
func (s *simulatedTopologies) Reserve(string, *corev1.Pod, numa.Allocation) {}

// Unreserve does nothing.
func (s *simulatedTopologies) Unreserve(types.UID) {}

// simulatedDevices shows the devices of the cluster, and those of the nodes that the view in use adds to it.
type simulatedDevices struct {
	deviceshare.State
	simulated *simulatedState
}

// Node implements deviceshare.State.
func (s *simulatedDevices) Node(name string) *device.Node {
	if added := s.simulated.addedNode(name); added != nil {
		return s.State.Node(added.like)
	}
	return s.State.Node(name)
}

// Ledger implements deviceshare.State. Nothing on an added node holds devices.
func (s *simulatedDevices) Ledger(info fwk.NodeInfo) *device.Ledger {
	added := s.simulated.addedNode(info.Node().Name)
	if added == nil {
		return s.State.Ledger(info)
	}
	offer := s.State.Node(added.like)
	if offer == nil {
		return nil
	}
	return device.NewLedger(offer, info.Node().Labels, nil)
}

// Reserve does nothing: what a supposed pod holds, its annotations say.
func (s *simulatedDevices) Reserve(string, *corev1.Pod, device.Allocation) {}

// Unreserve does nothing.
func (s *simulatedDevices) Unreserve(types.UID) {}
