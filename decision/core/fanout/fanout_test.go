package fanout

import (
	"sync/atomic"
	"testing"
)

func TestEachIndexOnce(t *testing.T) {
	for _, n := range []int{0, 1, share, share + 1, 10*share + 7} {
		done := make([]atomic.Int32, n)
		Each(n, func(i int) { done[i].Add(1) })
		for i := range done {
			if got := done[i].Load(); got != 1 {
				t.Fatalf("of %d: index %d was done %d times, want once", n, i, got)
			}
		}
	}
}
