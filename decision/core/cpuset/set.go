package cpuset

import (
	"fmt"
	"iter"
	"math/bits"
	"slices"

	"koordinator.sh/koord/api/extension"
)

// CPUSet is a set of logical CPUs, ids 0 to extension.MaxCPUID. The zero value is empty. Sets are never changed after they
// were made; operations return new ones. They are safe for concurrent use.
type CPUSet struct {
	// words hold one bit for each CPU; the last one is never zero.
	words []uint64
}

const wordBits = 64

// Of returns the set of the given CPUs. Ids out of range are left out.
func Of(cpus ...int) CPUSet {
	highest := -1
	for _, cpu := range cpus {
		if cpu <= extension.MaxCPUID {
			highest = max(highest, cpu)
		}
	}
	words := make([]uint64, highest/wordBits+1)
	for _, cpu := range cpus {
		if cpu >= 0 && cpu <= extension.MaxCPUID {
			words[cpu/wordBits] |= 1 << (cpu % wordBits)
		}
	}
	return trimmed(words)
}

// Parse reads a Linux CPU list such as 0-3,8.
func Parse(list string) (CPUSet, error) {
	cpus, err := extension.ParseCPUList(list)
	if err != nil {
		return CPUSet{}, fmt.Errorf("parse a set of CPUs: %w", err)
	}
	return Of(cpus...), nil
}

func trimmed(words []uint64) CPUSet {
	for len(words) > 0 && words[len(words)-1] == 0 {
		words = words[:len(words)-1]
	}
	return CPUSet{words: words}
}

// Len is the number of CPUs in the set.
func (s CPUSet) Len() int {
	count := 0
	for _, word := range s.words {
		count += bits.OnesCount64(word)
	}
	return count
}

// IsEmpty is true for the set without CPUs.
func (s CPUSet) IsEmpty() bool { return len(s.words) == 0 }

// Has is true when the CPU is in the set.
func (s CPUSet) Has(cpu int) bool {
	return cpu >= 0 && cpu/wordBits < len(s.words) && s.words[cpu/wordBits]&(1<<(cpu%wordBits)) != 0
}

// All yields the CPUs in ascending order.
func (s CPUSet) All() iter.Seq[int] {
	return func(yield func(int) bool) {
		for i, word := range s.words {
			for ; word != 0; word &= word - 1 {
				if !yield(i*wordBits + bits.TrailingZeros64(word)) {
					return
				}
			}
		}
	}
}

// List returns the CPUs in ascending order.
func (s CPUSet) List() []int { return slices.Collect(s.All()) }

// String writes the set as a Linux CPU list.
func (s CPUSet) String() string { return extension.FormatCPUList(s.List()) }

// Equal is true when both sets hold the same CPUs.
func (s CPUSet) Equal(other CPUSet) bool { return slices.Equal(s.words, other.words) }

// Union returns the CPUs of either set.
func (s CPUSet) Union(other CPUSet) CPUSet {
	if len(s.words) < len(other.words) {
		s, other = other, s
	}
	if other.IsEmpty() {
		return s
	}
	words := slices.Clone(s.words)
	for i, word := range other.words {
		words[i] |= word
	}
	return CPUSet{words: words}
}

// Intersection returns the CPUs in both sets.
func (s CPUSet) Intersection(other CPUSet) CPUSet {
	words := slices.Clone(s.words[:min(len(s.words), len(other.words))])
	for i := range words {
		words[i] &= other.words[i]
	}
	return trimmed(words)
}

// Difference returns the CPUs of this set that are not in the other.
func (s CPUSet) Difference(other CPUSet) CPUSet {
	words := slices.Clone(s.words)
	for i := range min(len(words), len(other.words)) {
		words[i] &^= other.words[i]
	}
	return trimmed(words)
}

// ContainsAll is true when every CPU of the other set is in this one.
func (s CPUSet) ContainsAll(other CPUSet) bool { return s.countBoth(other) == other.Len() }

// Meets is true when the sets have a CPU in common.
func (s CPUSet) Meets(other CPUSet) bool {
	for i := range min(len(s.words), len(other.words)) {
		if s.words[i]&other.words[i] != 0 {
			return true
		}
	}
	return false
}

// countBoth is the number of CPUs in both sets. It does not allocate.
func (s CPUSet) countBoth(other CPUSet) int {
	count := 0
	for i := range min(len(s.words), len(other.words)) {
		count += bits.OnesCount64(s.words[i] & other.words[i])
	}
	return count
}
