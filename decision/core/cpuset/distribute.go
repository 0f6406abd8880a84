package cpuset

import "slices"

// distribute takes alike from all NUMA nodes: each step gives one core, or one CPU, to the node that has given the least
// so far; among those, to the one with the most free CPUs, then the lower id.
func (t *taker) distribute(free CPUSet, count int) (CPUSet, bool) {
	for _, s := range t.styles() {
		if taken, ok := t.distributeIn(s, free, count); ok {
			return taken, true
		}
		if taken, ok := t.pick(s, free, count); ok {
			return taken, true
		}
	}
	return CPUSet{}, false
}

func (t *taker) distributeIn(s style, free CPUSet, count int) (CPUSet, bool) {
	parts := t.ordered(t.topology.Nodes, free)
	shares, ok := t.shares(s, parts, count)
	if !ok {
		return CPUSet{}, false
	}
	var taken CPUSet
	for i, share := range shares {
		if share == 0 {
			continue
		}
		cpus, ok := t.pick(s, parts[i].free, share)
		if !ok {
			return CPUSet{}, false
		}
		t.trace.tried(Attempt{Level: LevelNode, ID: parts[i].id, Free: parts[i].size, Usable: t.capacity(s, parts[i].free), Need: share, Taken: cpus})
		taken = taken.Union(cpus)
	}
	return taken, true
}

// shares says how many CPUs each part gives.
func (t *taker) shares(s style, parts []part, count int) ([]int, bool) {
	step := 1
	if s == whole {
		step = t.topology.CPUsPerCore()
	}
	shares, left := make([]int, len(parts)), make([]int, len(parts))
	for i, p := range parts {
		left[i] = t.capacity(s, p.free)
	}
	for count > 0 {
		next := -1
		for i := range parts {
			if left[i] > 0 && (next < 0 || shares[i] < shares[next]) {
				next = i
			}
		}
		if next < 0 {
			return nil, false
		}
		give := min(step, count, left[next])
		shares[next] += give
		left[next] -= give
		count -= give
	}
	return slices.Clip(shares), true
}
