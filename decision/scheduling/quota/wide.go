package quota

import (
	"math"
	"math/bits"
)

// wide is a sum of up to 2^63 amounts. It neither overflows nor saturates, so that what was added can be subtracted again.
type wide struct {
	high int64
	low  uint64
}

func (w *wide) add(delta int64) {
	low, carry := bits.Add64(w.low, uint64(delta), 0)
	w.low = low
	w.high += delta>>63 + int64(carry)
}

// value is the sum as an amount: at least 0, at most Unlimited.
func (w wide) value() int64 {
	switch {
	case w.high < 0:
		return 0
	case w.high > 0 || w.low > math.MaxInt64:
		return Unlimited
	}
	return int64(w.low)
}

// exceeds reports whether the sum is more than an amount.
func (w wide) exceeds(amount int64) bool {
	return w.high > 0 || w.high == 0 && w.low > uint64(amount)
}
