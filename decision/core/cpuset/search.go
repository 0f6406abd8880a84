package cpuset

import (
	"cmp"
	"slices"

	"koordinator.sh/koord/api/extension"
)

// Level is a part of a machine that CPUs are taken from.
type Level string

// Levels, best first.
const (
	LevelNode    Level = "NUMA node"
	LevelSocket  Level = "socket"
	LevelMachine Level = "machine"
)

// search takes CPUs in the way the policy wants, from as small a part of the machine as can give them.
func (t *taker) search(free CPUSet, count int) (CPUSet, bool) {
	if t.request.Strategy == extension.NUMADistributeEvenly {
		return t.distribute(free, count)
	}
	for _, level := range []Level{LevelNode, LevelSocket} {
		groups := t.ordered(t.groups(level), free)
		for _, s := range t.styles() {
			for _, group := range groups {
				if taken, ok := t.takeWithin(level, s, group, count); ok {
					return taken, true
				}
			}
		}
	}
	for _, s := range t.styles() {
		if taken, ok := t.cover(LevelSocket, s, free, count); ok {
			return taken, true
		}
		if taken, ok := t.pick(s, free, count); ok {
			return taken, true
		}
	}
	return CPUSet{}, false
}

func (t *taker) groups(level Level) []Group {
	if level == LevelNode {
		return t.topology.Nodes
	}
	return t.topology.Sockets
}

// part is the free CPUs of one group.
type part struct {
	id   int
	free CPUSet
	// size is free.Len().
	size int
}

// ordered lists the groups that have free CPUs, as the strategy wants them to be taken from.
func (t *taker) ordered(groups []Group, free CPUSet) []part {
	parts := make([]part, 0, len(groups))
	for _, group := range groups {
		if cpus := group.CPUs.Intersection(free); !cpus.IsEmpty() {
			parts = append(parts, part{id: group.ID, free: cpus, size: cpus.Len()})
		}
	}
	slices.SortStableFunc(parts, func(a, b part) int { return t.compareFree(a.size, b.size) })
	return parts
}

// compareFree orders by the number of free CPUs: fewest first, or most first for LeastAllocated.
func (t *taker) compareFree(a, b int) int {
	if t.request.Strategy == extension.NUMALeastAllocated || t.request.Strategy == extension.NUMADistributeEvenly {
		return cmp.Compare(b, a)
	}
	return cmp.Compare(a, b)
}

// takeWithin takes all CPUs from one group; in a socket, from as few NUMA nodes as possible.
func (t *taker) takeWithin(level Level, s style, group part, count int) (CPUSet, bool) {
	capacity := t.capacity(s, group.free)
	if capacity < count {
		t.trace.tried(Attempt{Level: level, ID: group.id, Free: group.size, Usable: capacity, Need: count})
		return CPUSet{}, false
	}
	var taken CPUSet
	ok := false
	if level == LevelSocket {
		taken, ok = t.cover(LevelNode, s, group.free, count)
	}
	if !ok {
		taken, ok = t.pick(s, group.free, count)
	}
	t.trace.tried(Attempt{Level: level, ID: group.id, Free: group.size, Usable: capacity, Need: count, Taken: taken})
	return taken, ok
}

// cover takes CPUs from several groups: all of the group that can give the most, again and again, until one can give the
// rest; of those that can, the first by the strategy.
func (t *taker) cover(level Level, s style, free CPUSet, count int) (CPUSet, bool) {
	var taken CPUSet
	parts := t.ordered(t.groups(level), free)
	for count > 0 {
		last := slices.IndexFunc(parts, func(p part) bool { return t.capacity(s, p.free) >= count })
		if last >= 0 {
			rest, ok := t.takeWithin(level, s, parts[last], count)
			return taken.Union(rest), ok
		}
		if len(parts) == 0 {
			return CPUSet{}, false
		}
		largest := t.largest(s, parts)
		all, ok := t.pick(s, parts[largest].free, t.capacity(s, parts[largest].free))
		if !ok || all.IsEmpty() {
			return CPUSet{}, false
		}
		taken, count = taken.Union(all), count-all.Len()
		parts = slices.Delete(parts, largest, largest+1)
	}
	return taken, true
}

// largest is the group that can give the most.
func (t *taker) largest(s style, parts []part) int {
	best, most := 0, -1
	for i, p := range parts {
		if capacity := t.capacity(s, p.free); capacity > most {
			best, most = i, capacity
		}
	}
	return best
}
