package numa

import (
	"fmt"
	"iter"
	"math/bits"
)

// MaxZones is the number of NUMA zones of a node that can take part in alignment: ids 0 to 63.
const MaxZones = 64

// Mask is a set of NUMA zones: bit i is zone i. The zero Mask means no affinity to any zone.
type Mask uint64

// MaskOf returns the set of the given zones. Ids out of range are left out.
func MaskOf(zones ...int) Mask {
	var mask Mask
	for _, zone := range zones {
		if zone >= 0 && zone < MaxZones {
			mask |= 1 << zone
		}
	}
	return mask
}

// Has is true when the zone is in the set.
func (m Mask) Has(zone int) bool { return zone >= 0 && zone < MaxZones && m&(1<<zone) != 0 }

// Count is the number of zones in the set.
func (m Mask) Count() int { return bits.OnesCount64(uint64(m)) }

// Zones yields the zones of the set in ascending order.
func (m Mask) Zones() iter.Seq[int] {
	return func(yield func(int) bool) {
		for rest := m; rest != 0; rest &= rest - 1 {
			if !yield(bits.TrailingZeros64(uint64(rest))) {
				return
			}
		}
	}
}

// String writes the set in binary, zone 0 last, padded to an even number of digits: 01, 10, 0100.
func (m Mask) String() string {
	digits := max(bits.Len64(uint64(m)), 1)
	return fmt.Sprintf("%0*b", digits+digits%2, uint64(m))
}
