// Package stack divides cells of a bar or of a chart's column among stacked values, at a resolution of an eighth of a
// cell. It knows nothing of glyphs and colours.
package stack

// Eighths is the number of steps in a cell.
const Eighths = 8

// Cell says what one cell shows. Lower fills the first Fill eighths, from the left or from below; Upper the others.
type Cell struct {
	// Lower and Upper are indexes of values; -1 is nothing.
	Lower, Upper int
	// Fill of Lower in eighths, 1 to 8; at 8 Upper is not seen.
	Fill int
	// Major is the value with the largest part of the cell, for displays without partial cells.
	Major int
}

// Empty is a cell that shows nothing.
var Empty = Cell{Lower: -1, Upper: -1, Fill: Eighths, Major: -1}

// Split divides cells among the values so that total fills all of them, and writes them to dst, which is returned.
// Negative values count as zero. Values beyond the total are cut off. Where more than two values meet in one cell, the
// two largest parts of it are shown.
func Split(dst []Cell, values []int64, total int64, cells int) []Cell {
	dst = dst[:0]
	if cells <= 0 {
		return dst
	}
	if total <= 0 {
		for range cells {
			dst = append(dst, Empty)
		}
		return dst
	}
	edges := edgesOf(values, total, cells)
	for c := range cells {
		dst = append(dst, cellAt(edges, c*Eighths))
	}
	return dst
}

// edgesOf returns where each value ends, in eighths from the start, rounded to the nearest.
func edgesOf(values []int64, total int64, cells int) []int {
	edges := make([]int, len(values))
	steps := float64(cells * Eighths)
	var sum float64
	for i, v := range values {
		sum += float64(max(v, 0))
		edges[i] = int(min(sum/float64(total), 1)*steps + 0.5)
	}
	return edges
}

// cellAt finds the two largest parts of the cell that begins at start eighths.
func cellAt(edges []int, start int) Cell {
	first, second := part{index: -1}, part{index: -1}
	from := start
	for i, edge := range edges {
		to := min(edge, start+Eighths)
		if to <= from {
			continue
		}
		first, second = rank(first, second, part{index: i, from: from, size: to - from})
		from = to
	}
	if rest := start + Eighths - from; rest > 0 {
		first, second = rank(first, second, part{index: -1, from: from, size: rest})
	}
	return join(first, second)
}

type part struct{ index, from, size int }

func rank(first, second, p part) (part, part) {
	switch {
	case p.size > first.size:
		return p, first
	case p.size > second.size:
		return first, p
	}
	return first, second
}

// join shows the larger part and beside it, in their order, the smaller one.
func join(first, second part) Cell {
	if second.size == 0 {
		return Cell{Lower: first.index, Upper: first.index, Fill: Eighths, Major: first.index}
	}
	lower, upper := first, second
	if second.from < first.from {
		lower, upper = second, first
	}
	fill := lower.size + (Eighths-lower.size-upper.size)/2
	return Cell{Lower: lower.index, Upper: upper.index, Fill: fill, Major: first.index}
}
