package device

import "math/bits"

// set is a set of devices of one type on one node, by their position. It holds any number of them.
type set []uint64

// newSet returns an empty set for so many devices.
func newSet(size int) set { return make(set, (size+63)/64) }

// cleared returns an empty set for so many devices, in the same memory where that is large enough.
func (s set) cleared(size int) set {
	words := (size + 63) / 64
	if cap(s) < words {
		return make(set, words)
	}
	s = s[:words]
	clear(s)
	return s
}

func (s set) add(i int)      { s[i/64] |= 1 << (i % 64) }
func (s set) has(i int) bool { return s[i/64]&(1<<(i%64)) != 0 }

func (s set) meets(other set) bool {
	for i, word := range s {
		if word&other[i] != 0 {
			return true
		}
	}
	return false
}

// within is true when every member is one of the other set.
func (s set) within(other set) bool {
	for i, word := range s {
		if word&^other[i] != 0 {
			return false
		}
	}
	return true
}

// shared counts the members that are also in the other set.
func (s set) shared(other set) int {
	n := 0
	for i, word := range s {
		n += bits.OnesCount64(word & other[i])
	}
	return n
}

// next returns the lowest member from i on, -1 when there is none.
func (s set) next(i int) int {
	for word := i / 64; word < len(s); word++ {
		rest := s[word]
		if word == i/64 {
			rest &= ^uint64(0) << (i % 64)
		}
		if rest != 0 {
			return word*64 + bits.TrailingZeros64(rest)
		}
	}
	return -1
}
