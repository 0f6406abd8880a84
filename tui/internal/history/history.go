// Package history keeps the recent past of the co-location areas in bounded memory: one ring of samples for the cluster
// and one a node, all on the same clock.
package history

import (
	"math"
	"time"

	"koordinator.sh/koord/tui/internal/story"
)

// Budget bounds the memory of all rings together, in bytes.
const Budget = 32 << 20

const (
	maxSamples = 900
	minSamples = 60
	pointBytes = 2 * 4 * (story.Areas + 1)
)

// Resource selects what is looked back at.
type Resource int

// The resources a history holds.
const (
	CPU Resource = iota
	Memory
)

// Point is a sample of one resource: the areas and the capacity, in milliCPU or bytes. Four bytes each are enough for a
// chart and halve the memory. A NaN capacity means nothing was measured.
type Point struct {
	Area     [story.Areas]float32
	Capacity float32
}

// Known reports whether something was measured.
func (p Point) Known() bool { return p.Capacity == p.Capacity } //nolint:gocritic // NaN is the only value that differs from itself

var unknown = Point{Capacity: float32(math.NaN())}

type pair [2]Point

// History is the recent past of a cluster. The zero value is empty and ready for use; it is not safe for concurrent use.
type History struct {
	times   []time.Time
	next    int
	filled  int
	nodes   map[string][]pair
	cluster []pair
}

// Sample is what the cluster and its nodes look like at one moment.
type Sample struct {
	At      time.Time
	Cluster [2]story.Parts
	Nodes   map[string][2]story.Parts
}

// Limit is how many samples are kept for a number of nodes: as many as fit the budget, at most 900 and at least 60.
func Limit(nodes int) int {
	return min(max(Budget/(pointBytes*(nodes+1)), minSamples), maxSamples)
}

// Len is the number of samples held.
func (h *History) Len() int { return h.filled }

// Since is the time of the oldest sample; zero when there is none.
func (h *History) Since() time.Time {
	if h.filled == 0 {
		return time.Time{}
	}
	return h.times[h.index(0)]
}

// index is the slot of the i-th oldest sample.
func (h *History) index(i int) int {
	n := len(h.times)
	return (h.next - h.filled + i + 2*n) % n
}

// Append adds a sample. A node that the sample does not have is forgotten.
func (h *History) Append(s Sample) {
	h.fit(Limit(len(s.Nodes)))
	slot := h.next
	h.times[slot] = s.At
	h.cluster[slot] = pointsOf(s.Cluster)
	for name := range h.nodes {
		if _, ok := s.Nodes[name]; !ok {
			delete(h.nodes, name)
		}
	}
	for name, parts := range s.Nodes {
		ring, ok := h.nodes[name]
		if !ok {
			ring = blank(len(h.times))
			h.nodes[name] = ring
		}
		ring[slot] = pointsOf(parts)
	}
	h.next = (h.next + 1) % len(h.times)
	h.filled = min(h.filled+1, len(h.times))
}

// fit makes the rings hold limit samples. They shrink as soon as the budget asks for it and grow only when it has
// doubled, so that a node more or less does not copy everything.
func (h *History) fit(limit int) {
	size := len(h.times)
	if size != 0 && limit >= size && limit < 2*size {
		return
	}
	keep := min(h.filled, limit)
	from := make([]int, keep)
	for i := range keep {
		from[i] = h.index(h.filled - keep + i)
	}
	times := make([]time.Time, limit)
	for i, f := range from {
		times[i] = h.times[f]
	}
	h.cluster = moved(h.cluster, from, limit)
	for name, ring := range h.nodes {
		h.nodes[name] = moved(ring, from, limit)
	}
	if h.nodes == nil {
		h.nodes = map[string][]pair{}
	}
	h.times, h.filled, h.next = times, keep, keep%limit
}

func blank(n int) []pair {
	ring := make([]pair, n)
	for i := range ring {
		ring[i] = pair{unknown, unknown}
	}
	return ring
}

func moved(ring []pair, from []int, limit int) []pair {
	out := blank(limit)
	for i, f := range from {
		out[i] = ring[f]
	}
	return out
}

func pointsOf(parts [2]story.Parts) pair {
	return pair{pointOf(parts[CPU]), pointOf(parts[Memory])}
}

func pointOf(p story.Parts) Point {
	if p.Measured == 0 {
		return unknown
	}
	out := Point{Capacity: float32(p.Capacity)}
	for i, v := range p.Area {
		out.Area[i] = float32(v)
	}
	return out
}
