package cpuset

import (
	"cmp"
	"slices"
)

// breakCores takes CPUs when there are too few idle cores: all idle cores, then single CPUs, beginning with the sockets
// that gave the most so far, then by NUMA node as the strategy orders them, then the cores with the fewest free CPUs, then
// the lower id.
func (t *taker) breakCores(free CPUSet, count int) CPUSet {
	taken := Of(slices.Concat(idleCores(t.topology, free)...)...)
	rest := free.Difference(taken)
	given := countIn(t.topology.Sockets, taken)
	onNode, onCore := countIn(t.topology.Nodes, rest), countIn(t.topology.Cores, rest)
	cpus := rest.List()
	slices.SortStableFunc(cpus, func(a, b int) int {
		return cmp.Or(
			cmp.Compare(given[t.topology.socketOf[b]], given[t.topology.socketOf[a]]),
			t.compareFree(onNode[t.topology.nodeOf[a]], onNode[t.topology.nodeOf[b]]),
			cmp.Compare(t.topology.nodeOf[a], t.topology.nodeOf[b]),
			cmp.Compare(onCore[t.topology.coreOf[a]], onCore[t.topology.coreOf[b]]),
		)
	})
	broken := Of(cpus[:count-taken.Len()]...)
	t.trace.tried(Attempt{Level: LevelMachine, Free: free.Len(), Usable: taken.Len(), Need: count, Taken: taken.Union(broken), Broken: broken.Len()})
	return taken.Union(broken)
}

// countIn counts the CPUs of a set in each group.
func countIn(groups []Group, cpus CPUSet) []int {
	counts := make([]int, len(groups))
	for i := range groups {
		counts[i] = groups[i].CPUs.countBoth(cpus)
	}
	return counts
}
