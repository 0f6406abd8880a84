package history

import "time"

// Columns returns one point a column for a chart that ends at end and advances step a column: the mean of the samples
// that fall into the column. A column between two samples repeats the older one for up to hold; longer gaps stay
// unknown. An empty node selects the cluster.
func (h *History) Columns(node string, r Resource, end time.Time, step, hold time.Duration, width int) []Point {
	out := make([]Point, max(width, 0))
	for i := range out {
		out[i] = unknown
	}
	ring := h.cluster
	if node != "" {
		ring = h.nodes[node]
	}
	if ring == nil || step <= 0 || width <= 0 {
		return out
	}
	start := end.Add(-time.Duration(width) * step)
	counts := make([]int, width)
	seen := make([]time.Time, width)
	for i := range h.filled {
		slot := h.index(i)
		column := columnOf(h.times[slot], start, step)
		if column < 0 || column >= width {
			continue
		}
		seen[column] = h.times[slot]
		count(out, counts, column, ring[slot][r])
	}
	carry(out, seen, start, step, hold)
	return out
}

// columnOf returns the column of a moment; the end itself belongs to the last column.
func columnOf(at, start time.Time, step time.Duration) int {
	d := at.Sub(start)
	if d <= 0 {
		return -1
	}
	return int((d - 1) / step)
}

// count takes a point into the mean of its column, unless nothing was measured.
func count(out []Point, counts []int, column int, p Point) {
	if p.Known() {
		out[column] = mean(out[column], p, counts[column])
		counts[column]++
	}
}

func mean(sum, p Point, n int) Point {
	if n == 0 {
		return p
	}
	weight := 1 / float32(n+1)
	sum.Capacity += (p.Capacity - sum.Capacity) * weight
	for i := range sum.Area {
		sum.Area[i] += (p.Area[i] - sum.Area[i]) * weight
	}
	return sum
}

func carry(out []Point, seen []time.Time, start time.Time, step, hold time.Duration) {
	var last Point
	var at time.Time
	for i := range out {
		if !seen[i].IsZero() {
			last, at = out[i], seen[i]
			continue
		}
		if !at.IsZero() && start.Add(time.Duration(i)*step).Sub(at) < hold {
			out[i] = last
		}
	}
}

// Measured reports whether any sample of the node has a measurement.
func (h *History) Measured(node string, r Resource) bool {
	ring := h.nodes[node]
	for i := range h.filled {
		if ring != nil && ring[h.index(i)][r].Known() {
			return true
		}
	}
	return false
}

// Has reports whether the node was seen in the last sample.
func (h *History) Has(node string) bool {
	_, ok := h.nodes[node]
	return ok
}
