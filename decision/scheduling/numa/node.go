package numa

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/decision/core/cpuset"
)

// Node is what a node offers of CPUs and NUMA zones before any pod holds some of it. It is read-only and safe for
// concurrent use.
type Node struct {
	// Name of the node.
	Name string
	// CPUs of the node; nil when it reports none, or none that can be used.
	CPUs *cpuset.Topology
	// Usable CPUs: those that nothing keeps out.
	Usable cpuset.CPUSet
	// Kept says what keeps the other CPUs out.
	Kept []Kept
	// BindPolicy that the node demands of every pod.
	BindPolicy extension.NodeCPUBindPolicy
	// Policy of NUMA alignment of the node.
	Policy extension.NUMATopologyPolicy
	// Strategy in which zones are filled; empty when the node does not say.
	Strategy extension.NUMAAllocateStrategy
	// Ratio by which the node's cpu is shown larger than it is; 1 when it is not.
	Ratio extension.Ratio
	// RatioInvalid is true when the amplification ratios cannot be read.
	RatioInvalid bool
	// Zones by id; none when the node reports none.
	Zones []Zone
	// Problems names what could not be read.
	Problems []string

	// masks are the sets of zones that may be used together.
	masks []Mask
	// countable is true when counts of CPUs may stand for sets of them; usable is then those of Usable in each zone.
	countable bool
	usable    []cpuset.Count
}

// Kept is a set of CPUs that pods of the scheduler cannot own.
type Kept struct {
	// By says for what: "kubelet", "kubelet reservedCPUs", "node reservation", "system QoS".
	By   string
	CPUs cpuset.CPUSet
}

// Zone is one NUMA node.
type Zone struct {
	// ID as the kernel numbers it.
	ID int
	// Total is what pods can be given, amplified.
	Total Amounts
}

// Demanding is true when the node asks something of pods that ask nothing by themselves.
func (n *Node) Demanding() bool {
	return n.BindPolicy != extension.NodeCPUBindPolicyNone || n.Policy != extension.NUMATopologyPolicyNone || n.Ratio > 1 || n.RatioInvalid
}

// finish works out what follows from the rest.
func (n *Node) finish() {
	n.masks = masksOf(n.mask())
	n.usable = make([]cpuset.Count, len(n.Zones))
	if n.CPUs == nil {
		return
	}
	n.countable = n.CPUs.Countable()
	for i := range n.Zones {
		n.usable[i] = cpuset.CountOf(n.CPUs, n.Usable.Intersection(n.CPUs.Node(n.Zones[i].ID)))
	}
}

// mask of all zones.
func (n *Node) mask() Mask {
	var mask Mask
	for i := range n.Zones {
		mask |= MaskOf(n.Zones[i].ID)
	}
	return mask
}

// zone returns the index of a zone, -1 when there is none.
func (n *Node) zone(id int) int {
	return slices.IndexFunc(n.Zones, func(zone Zone) bool { return zone.ID == id })
}

// has is true when some zone offers the resource.
func (n *Node) has(name corev1.ResourceName) bool {
	return slices.ContainsFunc(n.Zones, func(zone Zone) bool { _, found := zone.Total[name]; return found })
}

// cpusOf returns the CPUs in a set of zones.
func (n *Node) cpusOf(mask Mask) cpuset.CPUSet {
	var cpus cpuset.CPUSet
	for zone := range mask.Zones() {
		cpus = cpus.Union(n.CPUs.Node(zone))
	}
	return cpus
}
