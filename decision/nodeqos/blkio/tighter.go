package blkio

import (
	"cmp"
	"maps"
	"slices"
)

// Tighter is the bounds of both results together: of each rate the smaller one that bounds, and the weight of the first result
// where it has the device. It keeps the problems of the first.
func Tighter(a, b Result) Result {
	byDevice := map[string]Throttle{}
	for _, throttle := range a.Throttles {
		byDevice[throttle.Device] = throttle
	}
	for _, other := range b.Throttles {
		own, both := byDevice[other.Device]
		if !both {
			byDevice[other.Device] = other
			continue
		}
		own.ReadIOPS, own.WriteIOPS = bound(own.ReadIOPS, other.ReadIOPS), bound(own.WriteIOPS, other.WriteIOPS)
		own.ReadBPS, own.WriteBPS = bound(own.ReadBPS, other.ReadBPS), bound(own.WriteBPS, other.WriteBPS)
		byDevice[other.Device] = own
	}
	throttles := slices.Collect(maps.Values(byDevice))
	slices.SortFunc(throttles, func(a, b Throttle) int { return cmp.Compare(a.Device, b.Device) })
	return Result{Throttles: throttles, Costs: a.Costs, Problems: a.Problems}
}

// bound is the smaller of two bounds, of which 0 is none.
func bound(a, b int64) int64 {
	if a == 0 || b != 0 && b < a {
		return b
	}
	return a
}
