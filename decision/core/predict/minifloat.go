package predict

import (
	"math"
	"math/bits"
)

// minifloat is an amount of whole units in 16 bits, 5 of them an exponent and 11 a mantissa: exact up to 4095 units, and above
// at most one part in 2048 too large, never too small. Larger amounts have larger codes.
type minifloat uint16

const (
	mantissaBits = 11
	// largestUnits is what the largest code stands for; larger amounts count as that.
	largestUnits = float64((1<<(mantissaBits+1) - 1) << 30)
	// slack keeps the rounding of the conversion to units from counting as a unit.
	slack = 1e-12
)

// minifloatOf is the smallest code that stands for so many units at least; 0 of what is no amount.
func minifloatOf(units float64) minifloat {
	switch {
	case !(units > 0):
		return 0
	case units >= largestUnits:
		return math.MaxUint16
	}
	whole := uint64(math.Ceil(units * (1 - slack)))
	shift := max(bits.Len64(whole)-(mantissaBits+1), 0)
	// A mantissa that is rounded up to a power of two carries into the exponent, which is just the code of that power.
	return minifloat(uint64(shift)<<mantissaBits + (whole+1<<shift-1)>>shift)
}

// units are what the code stands for.
func (m minifloat) units() float64 {
	exponent, mantissa := m>>mantissaBits, uint64(m)&(1<<mantissaBits-1)
	if exponent == 0 {
		return float64(mantissa)
	}
	return float64((1<<mantissaBits + mantissa) << (exponent - 1))
}

const (
	// unitsPerCore makes a unit the eighth of a milli-core, so that idle pods count for little.
	unitsPerCore = 8000
	// bytesPerUnit is far below a page.
	bytesPerUnit = 1024
)

// use is what a pod used of both resources in one step.
type use struct{ cpu, memory minifloat }

// useOf is the use of so many cores and bytes.
func useOf(cores, bytes float64) use {
	return use{minifloatOf(cores * unitsPerCore), minifloatOf(bytes / bytesPerUnit)}
}

// of is the use of a resource, in cores or bytes.
func (u use) of(resource Resource) float64 {
	if resource == Memory {
		return u.memory.units() * bytesPerUnit
	}
	return u.cpu.units() / unitsPerCore
}

// larger is the larger use of each resource.
func (u use) larger(other use) use { return use{max(u.cpu, other.cpu), max(u.memory, other.memory)} }
