package podrequest

import (
	"math"

	"k8s.io/apimachinery/pkg/api/resource"
)

// Milli is a quantity in thousandths, rounded away from zero. What an int64 cannot hold counts as the largest it can: Quantity
// itself makes some such amounts zero, and a request of everything would be one of nothing. Negative amounts, which are mistakes,
// have a precision of 15 digits.
func Milli(quantity resource.Quantity) int64 {
	switch sign := quantity.Sign(); {
	case sign < 0:
		return negative(quantity.AsApproximateFloat64() * 1000)
	case quantity.CmpInt64(math.MaxInt64/1000) > 0:
		return math.MaxInt64
	}
	return quantity.MilliValue()
}

// Whole is a quantity in whole units, rounded and bounded as Milli does.
func Whole(quantity resource.Quantity) int64 {
	switch sign := quantity.Sign(); {
	case sign < 0:
		return negative(quantity.AsApproximateFloat64())
	case quantity.CmpInt64(math.MaxInt64) >= 0:
		return math.MaxInt64
	}
	return quantity.Value()
}

func negative(amount float64) int64 {
	if amount < math.MinInt64/2 {
		return math.MinInt64 / 2
	}
	return int64(math.Floor(amount))
}
