package cpuset

import (
	"cmp"
	"slices"

	"koordinator.sh/koord/api/extension"
)

// style is a way of taking CPUs out of a part of the machine.
type style int

const (
	// whole takes idle cores; the last one may be taken in part unless the policy is required.
	whole style = iota
	// spread takes one CPU of each core.
	spread
	// rounds takes one CPU of each core, then another of each, and so on.
	rounds
	// packed takes all free CPUs of the cores that have the fewest.
	packed
)

// styles of the request, best first, that are tried on one part of the machine before the next is looked at.
func (t *taker) styles() []style {
	switch {
	case t.request.Policy == extension.CPUBindPolicyFullPCPUs:
		return []style{whole}
	case t.request.Policy == extension.CPUBindPolicySpreadByPCPUs && t.request.Required:
		return []style{spread}
	case t.request.Policy == extension.CPUBindPolicySpreadByPCPUs:
		return []style{spread, rounds}
	}
	return []style{packed}
}

// capacity is how many CPUs a style can take out of what is free.
func (t *taker) capacity(s style, free CPUSet) int {
	count := CountOf(t.topology, free)
	switch s {
	case whole:
		return count.Idle
	case spread:
		return count.Cores
	}
	return count.Free
}

// pick takes CPUs from the cores in the order of their ids; false when the style cannot.
func (t *taker) pick(s style, free CPUSet, count int) (CPUSet, bool) {
	if t.capacity(s, free) < count {
		return CPUSet{}, false
	}
	switch s {
	case whole:
		cores := idleCores(t.topology, free)
		if t.request.Required {
			return wholeCores(cores, count)
		}
		return firstOf(cores, count), true
	case packed:
		cores := freeCores(t.topology, free)
		slices.SortStableFunc(cores, func(a, b []int) int { return cmp.Compare(len(a), len(b)) })
		return firstOf(cores, count), true
	}
	return inRounds(freeCores(t.topology, free), count), true
}

// idleCores lists the CPUs of the cores that are wholly free.
func idleCores(topology *Topology, free CPUSet) [][]int {
	var cores [][]int
	for i := range topology.Cores {
		if core := &topology.Cores[i]; core.CPUs.countBoth(free) == core.size {
			cores = append(cores, core.CPUs.List())
		}
	}
	return cores
}

// freeCores lists the free CPUs of each core that has some.
func freeCores(topology *Topology, free CPUSet) [][]int {
	var cores [][]int
	for i := range topology.Cores {
		if cpus := topology.Cores[i].CPUs.Intersection(free); !cpus.IsEmpty() {
			cores = append(cores, cpus.List())
		}
	}
	return cores
}

// firstOf takes the first CPUs of the list.
func firstOf(cores [][]int, count int) CPUSet {
	cpus := slices.Concat(cores...)
	return Of(cpus[:min(count, len(cpus))]...)
}

// inRounds takes the first CPU of each core, then the second of each.
func inRounds(cores [][]int, count int) CPUSet {
	var cpus []int
	for round := 0; len(cpus) < count; round++ {
		before := len(cpus)
		for _, core := range cores {
			if round < len(core) && len(cpus) < count {
				cpus = append(cpus, core[round])
			}
		}
		if len(cpus) == before {
			break
		}
	}
	return Of(cpus...)
}

// wholeCores takes cores, in order, that together have exactly count CPUs. Cores may differ in size: reach[i] says which
// counts the cores from i on can make up.
func wholeCores(cores [][]int, count int) (CPUSet, bool) {
	reach := make([][]bool, len(cores)+1)
	reach[len(cores)] = make([]bool, count+1)
	reach[len(cores)][0] = true
	for i := len(cores) - 1; i >= 0; i-- {
		reach[i] = slices.Clone(reach[i+1])
		for sum := len(cores[i]); sum <= count; sum++ {
			reach[i][sum] = reach[i][sum] || reach[i+1][sum-len(cores[i])]
		}
	}
	if !reach[0][count] {
		return CPUSet{}, false
	}
	var cpus []int
	for i, core := range cores {
		if left := count - len(cpus) - len(core); left >= 0 && reach[i+1][left] {
			cpus = append(cpus, core...)
		}
	}
	return Of(cpus...), true
}
