package metrics

import (
	"time"

	"koordinator.sh/koord/agent/host"
)

// numaNode is the measurement of one NUMA node.
type numaNode struct {
	id           int32
	cpu          time.Duration
	node, system *Window
}

// NUMAUsage is the use of one NUMA node: of all that runs there, and of what is neither a pod nor an application that is known.
type NUMAUsage struct {
	ID           int32
	Node, System Usage
}

// observeNUMA takes the samples of the NUMA nodes. The kernel does not count the CPU time of pods by NUMA node, so that of the system is
// taken to be spread as that of everything is.
func (n *Node) observeNUMA(snapshot *host.Snapshot, used, system Usage) {
	same := len(n.numa) == len(snapshot.NUMANodes)
	for i := 0; same && i < len(n.numa); i++ {
		same = n.numa[i].id == snapshot.NUMANodes[i].ID
	}
	if !same {
		samples := n.policy.samples(n.policy.Aggregate)
		n.numa = make([]numaNode, len(snapshot.NUMANodes))
		for i := range n.numa {
			n.numa[i] = numaNode{id: snapshot.NUMANodes[i].ID, cpu: snapshot.NUMANodes[i].CPU, node: NewWindow(samples), system: NewWindow(samples)}
		}
		return
	}
	elapsed := snapshot.Time.Sub(n.lastAt)
	for i := range n.numa {
		numa, read := &n.numa[i], &snapshot.NUMANodes[i]
		if read.CPU >= numa.cpu && used != (Usage{}) {
			here := Usage{NanoCores: rate(numa.cpu, read.CPU, elapsed), Memory: n.policy.memory(read.Counter)}
			rest := Usage{Memory: max(here.Memory-read.PodMemory, 0)}
			if used.NanoCores > 0 {
				rest.NanoCores = int64(float64(system.NanoCores) * float64(here.NanoCores) / float64(used.NanoCores))
			}
			numa.node.Add(snapshot.Time, here)
			numa.system.Add(snapshot.Time, rest)
		}
		numa.cpu = read.CPU
	}
}

// NUMAUsages returns the averages of the NUMA nodes, by id; those without a sample are left out.
func (n *Node) NUMAUsages(at time.Time) []NUMAUsage {
	var out []NUMAUsage
	for i := range n.numa {
		node, sampled := n.numa[i].node.Average(at, n.policy.Aggregate)
		if !sampled {
			continue
		}
		system, _ := n.numa[i].system.Average(at, n.policy.Aggregate)
		out = append(out, NUMAUsage{ID: n.numa[i].id, Node: node, System: system})
	}
	return out
}
