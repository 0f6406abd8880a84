package simulated

import (
	"hash/fnv"
	"math"
	"time"
)

// identity is a well-mixed 64-bit number that stands for a seed and a name.
func identity(seed uint64, name string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(name))
	return mix(h.Sum64() ^ mix(seed))
}

// mix is the finalizer of SplitMix64: every input bit flips each output bit with a probability near one half.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9
	x = (x ^ (x >> 27)) * 0x94d049bb133111eb
	return x ^ (x >> 31)
}

// unit maps an identity and a purpose to [0, 1).
func unit(id, purpose uint64) float64 {
	return float64(mix(id+purpose)>>11) / (1 << 53)
}

// between maps an identity and a purpose to [low, high).
func between(id, purpose uint64, low, high float64) float64 {
	return low + (high-low)*unit(id, purpose)
}

// noise is a smooth random function of time in [-1, 1): random values a step apart, joined by straight lines. It has no
// state, so that any moment of the past can be asked for.
func noise(id uint64, seconds float64, step time.Duration) float64 {
	position := seconds / step.Seconds()
	whole := math.Floor(position)
	here, next := unit(id, uint64(int64(whole))), unit(id, uint64(int64(whole)+1))
	return 2*(here+(next-here)*(position-whole)) - 1
}
