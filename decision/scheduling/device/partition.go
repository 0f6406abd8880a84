package device

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"koordinator.sh/koord/api/extension"
)

// partitionTable lists the GPU partitions of a machine, by the number of their GPUs.
type partitionTable struct {
	// sizes in ascending order.
	sizes []partitionSize
}

// partitionSize is all partitions with the same number of GPUs, those with the best score first, then as listed.
type partitionSize struct {
	gpus       int
	partitions []partition
}

// partition is a set of GPUs that are linked.
type partition struct {
	members set
	score   int
	// bandwidth of the ring, -1 when it is not known.
	bandwidth int64
}

func newPartitionTable(table extension.GPUPartitionTable, devices []physical, problems *[]string) *partitionTable {
	read := &partitionTable{}
	for _, gpus := range slices.Sorted(maps.Keys(table)) {
		size := partitionSize{gpus: gpus}
		for i := range table[gpus] {
			if p, problem := newPartition(gpus, &table[gpus][i], devices); problem == "" {
				size.partitions = append(size.partitions, p)
			} else {
				*problems = append(*problems, fmt.Sprintf("GPU partition %d of %d GPUs is left out: %s", i, gpus, problem))
			}
		}
		slices.SortStableFunc(size.partitions, func(a, b partition) int { return cmp.Compare(b.score, a.score) })
		read.sizes = append(read.sizes, size)
	}
	return read
}

func newPartition(gpus int, listed *extension.GPUPartition, devices []physical) (partition, string) {
	p := partition{members: newSet(len(devices)), score: listed.AllocationScore, bandwidth: -1}
	if len(listed.Minors) != gpus {
		return p, fmt.Sprintf("it has %d minors", len(listed.Minors))
	}
	for _, minor := range listed.Minors {
		position := slices.IndexFunc(devices, func(d physical) bool { return int(d.minor) == minor })
		if position < 0 {
			return p, fmt.Sprintf("the node has no GPU with minor %d", minor)
		}
		if p.members.has(position) {
			return p, fmt.Sprintf("minor %d is in it twice", minor)
		}
		p.members.add(position)
	}
	if listed.RingBusBandwidth != nil {
		p.bandwidth = bounded(*listed.RingBusBandwidth)
	}
	return p, ""
}

// hopperModels are the GPU models whose 8-GPU machines all have the same partitions.
var hopperModels = []string{"H100", "H800", "H20"}

// hopperTable is the table of those machines: any one GPU, and aligned groups of two, four and eight by minor.
func hopperTable(devices []physical) *partitionTable {
	table := extension.GPUPartitionTable{}
	for _, gpus := range []int{1, 2, 4, 8} {
		for first := 0; first < 8; first += gpus {
			minors := make([]int, gpus)
			for i := range minors {
				minors[i] = first + i
			}
			table[gpus] = append(table[gpus], extension.GPUPartition{Minors: minors, GPULinkType: extension.GPULinkNVLink, AllocationScore: 1})
		}
	}
	var ignored []string // machines with fewer GPUs have fewer partitions
	return newPartitionTable(table, devices, &ignored)
}

// of returns the partitions of a number of GPUs; false when the table does not have that number.
func (t *partitionTable) of(gpus int) ([]partition, bool) {
	for i := range t.sizes {
		if t.sizes[i].gpus == gpus {
			return t.sizes[i].partitions, true
		}
	}
	return nil, false
}

// broken counts, for each size from the largest to that of the partition, the whole partitions that allocating it would
// break. Sizes beyond the room for counts are left out, the smallest first.
func (t *partitionTable) broken(p *partition, gpus int, idle set, counts []int64) {
	for i := len(t.sizes) - 1; i >= 0 && t.sizes[i].gpus >= gpus && len(counts) > 0; i-- {
		for j := range t.sizes[i].partitions {
			if members := t.sizes[i].partitions[j].members; members.within(idle) && members.meets(p.members) {
				counts[0]++
			}
		}
		counts = counts[1:]
	}
}
