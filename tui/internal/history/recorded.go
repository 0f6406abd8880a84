package history

import (
	"time"

	"koordinator.sh/koord/tui/internal/story"
)

// Moment is what others recorded of the time before the samples began.
type Moment struct {
	At time.Time
	// Resources are CPU and Memory.
	Resources [2]story.Parts
}

// Recorded returns one point a column, as Columns does, of moments that are in order of time. A column between two moments repeats the
// older one for up to hold.
func Recorded(moments []Moment, r Resource, end time.Time, step, hold time.Duration, width int) []Point {
	out := make([]Point, max(width, 0))
	for i := range out {
		out[i] = unknown
	}
	if step <= 0 {
		return out
	}
	start := end.Add(-time.Duration(width) * step)
	counts, seen := make([]int, len(out)), make([]time.Time, len(out))
	var before Moment // the last one that the chart does not reach
	for _, m := range moments {
		column := columnOf(m.At, start, step)
		if column < 0 {
			before = m
		}
		if column < 0 || column >= len(out) {
			continue
		}
		seen[column] = m.At
		count(out, counts, column, pointOf(m.Resources[r]))
	}
	if len(out) > 0 && seen[0].IsZero() && !before.At.IsZero() && start.Sub(before.At) < hold {
		out[0], seen[0] = pointOf(before.Resources[r]), before.At
	}
	carry(out, seen, start, step, hold)
	return out
}
