package resctrl

import (
	"fmt"
	"math/bits"
	"strconv"
	"strings"
)

// ParseMask reads the mask of all cache ways as the kernel writes it: hexadecimal, such as 7ff, with or without 0x in front.
// The ways of a cache are contiguous and begin at the lowest; anything else is an error.
func ParseMask(text string) (uint64, error) {
	digits := strings.TrimPrefix(strings.TrimPrefix(strings.TrimSpace(text), "0x"), "0X")
	mask, err := strconv.ParseUint(digits, 16, 64)
	if err != nil {
		return 0, fmt.Errorf("parse mask of cache ways %.40q: it is not a hexadecimal number of 64 bits", text)
	}
	if mask == 0 || mask&(mask+1) != 0 {
		return 0, fmt.Errorf("parse mask of cache ways %.40q: its ways are not contiguous from the lowest", text)
	}
	return mask, nil
}

// CacheMask is the ways from a percentage to another of all the ways there are. It has at least least ways, the fewest that
// the processor accepts: a range with fewer grows upwards, and downwards at the end.
func CacheMask(all uint64, startPercent, endPercent int64, least int) (uint64, error) {
	if startPercent < 0 || endPercent > 100 || startPercent >= endPercent {
		return 0, fmt.Errorf("the range of cache from %d to %d%% is empty or not within 0 to 100", startPercent, endPercent)
	}
	ways := int64(bits.OnesCount64(all))
	if ways == 0 || all&(all+1) != 0 {
		return 0, fmt.Errorf("%x is not a mask of contiguous cache ways", all)
	}
	start, end := ceilPercent(startPercent, ways), ceilPercent(endPercent, ways)
	need := min(max(int64(least), 1), ways)
	if end-start < need {
		end = min(start+need, ways)
		start = end - need
	}
	return lowest(end) &^ lowest(start), nil
}

// ceilPercent is a share of ways, rounded up.
func ceilPercent(percent, ways int64) int64 { return (percent*ways + 99) / 100 }

// lowest is a mask of the lowest n ways, 0 to 64.
func lowest(n int64) uint64 {
	if n >= 64 {
		return ^uint64(0)
	}
	return 1<<n - 1
}
