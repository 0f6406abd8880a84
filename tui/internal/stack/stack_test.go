package stack

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestSplit(t *testing.T) {
	full := func(i int) Cell { return Cell{Lower: i, Upper: i, Fill: 8, Major: i} }
	for name, tc := range map[string]struct {
		values []int64
		total  int64
		cells  int
		want   []Cell
	}{
		"halves fill whole cells":              {[]int64{50, 50}, 100, 4, []Cell{full(0), full(0), full(1), full(1)}},
		"a boundary inside a cell":             {[]int64{25, 75}, 100, 2, []Cell{{Lower: 0, Upper: 1, Fill: 4, Major: 0}, full(1)}},
		"what is not covered shows nothing":    {[]int64{50}, 100, 2, []Cell{full(0), Empty}},
		"more than the total is cut off":       {[]int64{300, 5}, 100, 2, []Cell{full(0), full(0)}},
		"negative counts as zero":              {[]int64{-5, 100}, 100, 1, []Cell{full(1)}},
		"no total, no bar":                     {[]int64{5}, 0, 2, []Cell{Empty, Empty}},
		"no cells":                             {[]int64{5}, 5, 0, []Cell{}},
		"of three in a cell the smallest goes": {[]int64{4, 1, 3}, 8, 1, []Cell{{Lower: 0, Upper: 2, Fill: 4, Major: 0}}},
	} {
		t.Run(name, func(t *testing.T) {
			got := Split(nil, tc.values, tc.total, tc.cells)
			if diff := cmp.Diff(tc.want, append([]Cell{}, got...)); diff != "" {
				t.Errorf("unexpected cells (-want +got):\n%s", diff)
			}
		})
	}
}

func TestSplitAlwaysFillsTheWidth(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.Int64(), 0, 7).Draw(t, "values")
		total := rapid.Int64().Draw(t, "total")
		cells := rapid.IntRange(0, 300).Draw(t, "cells")
		got := Split(nil, values, total, cells)
		if len(got) != cells {
			t.Fatalf("got %d cells, want %d", len(got), cells)
		}
		for _, c := range got {
			if c.Fill < 1 || c.Fill > Eighths || c.Lower < -1 || c.Lower >= len(values) || c.Upper < -1 || c.Upper >= len(values) {
				t.Fatalf("impossible cell %+v", c)
			}
		}
	})
}
