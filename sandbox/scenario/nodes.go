// Package scenario holds what a sandbox is filled with: simulated nodes, and workloads that give every command of the
// workbench something to say. It is data; it talks to no cluster.
package scenario

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"koordinator.sh/koord/agent/host/simulated"
	"koordinator.sh/koord/sandbox/component"
)

// Places of the special nodes, for those sandboxes that are large enough to have them.
const (
	hotNode   = 7
	staleNode = 13
)

// NodeName is the name of the i-th simulated node, from 1.
func NodeName(i int) string { return fmt.Sprintf("sim-%04d", i) }

// HotNode is the node whose production load is high; "" when the sandbox is too small to have one.
func HotNode(nodes int) string { return special(hotNode, nodes) }

// StaleNode is the node whose koordlet has stopped reporting; "" when the sandbox is too small to have one.
func StaleNode(nodes int) string { return special(staleNode, nodes) }

func special(place, nodes int) string {
	if nodes < place {
		return ""
	}
	return NodeName(place)
}

// IsFrozen reports whether a node's koordlet is kept from reporting.
func IsFrozen(node *corev1.Node) bool {
	return node.Annotations[simulated.AnnotationFreezeMetrics] == "true"
}

// size is what a machine of the simulated fleet has, and what its kubelet keeps for itself.
type size struct {
	kind                    string
	cpu, memoryGiB          int64
	reservedMilli, reserved int64 // milli-CPU and GiB
}

// sizes repeat over the fleet: two small machines, then a large one.
var sizes = []size{
	{kind: "c16m64", cpu: 16, memoryGiB: 64, reservedMilli: 500, reserved: 2},
	{kind: "c16m64", cpu: 16, memoryGiB: 64, reservedMilli: 500, reserved: 2},
	{kind: "c32m128", cpu: 32, memoryGiB: 128, reservedMilli: 1000, reserved: 4},
}

// zones take turns after every round of sizes, so that each zone has machines of both kinds.
var zones = []string{"zone-a", "zone-b", "zone-c"}

// Nodes returns the sandbox's n nodes, as a kubelet would register them.
func Nodes(n int) []*corev1.Node {
	nodes := make([]*corev1.Node, 0, n)
	for i := 1; i <= n; i++ {
		nodes = append(nodes, newNode(i, n))
	}
	return nodes
}

func newNode(i, n int) *corev1.Node {
	machine := sizes[(i-1)%len(sizes)]
	node := &corev1.Node{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Node"},
		ObjectMeta: metav1.ObjectMeta{
			Name: NodeName(i),
			Labels: map[string]string{
				component.SimulatedNodeLabel:     "true",
				corev1.LabelHostname:             NodeName(i),
				corev1.LabelOSStable:             "linux",
				corev1.LabelArchStable:           "amd64",
				corev1.LabelInstanceTypeStable:   machine.kind,
				corev1.LabelTopologyZone:         zones[(i-1)/len(sizes)%len(zones)],
				corev1.LabelTopologyRegion:       "sandbox",
				"node-role.kubernetes.io/worker": "",
			},
			Annotations: map[string]string{},
		},
		Status: corev1.NodeStatus{
			Capacity:    resources(machine.cpu*1000, machine.memoryGiB),
			Allocatable: resources(machine.cpu*1000-machine.reservedMilli, machine.memoryGiB-machine.reserved),
			NodeInfo:    corev1.NodeSystemInfo{Architecture: "amd64", OperatingSystem: "linux", OSImage: "koord sandbox (simulated)"},
		},
	}
	if node.Name == StaleNode(n) {
		node.Annotations[simulated.AnnotationFreezeMetrics] = "true"
	}
	return node
}

func resources(milliCPU, memoryGiB int64) corev1.ResourceList {
	return corev1.ResourceList{
		corev1.ResourceCPU:              *resource.NewMilliQuantity(milliCPU, resource.DecimalSI),
		corev1.ResourceMemory:           *resource.NewQuantity(memoryGiB<<30, resource.BinarySI),
		corev1.ResourceEphemeralStorage: *resource.NewQuantity(200<<30, resource.BinarySI),
		corev1.ResourcePods:             *resource.NewQuantity(110, resource.DecimalSI),
	}
}
