package resctrl

import (
	"fmt"
)

// Vendor of the processor, as CPUs name themselves.
type Vendor string

// Vendors whose processors divide memory bandwidth.
const (
	Intel Vendor = "GenuineIntel"
	AMD   Vendor = "AuthenticAMD"
)

// Bandwidth of the two kinds.
const (
	// intelStep is the step of Intel's percentages, and the least of them.
	intelStep = 10
	// amdAll is AMD's value for no bound: the least figure above all bandwidths; amdScale that for all of it as a bound.
	amdAll   = 2048
	amdScale = 160
)

// Bandwidth is the value of memory bandwidth for a percentage. A vendor that is not known is an error: a figure that means
// percent on one processor means eighths of a gigabyte per second on another.
func Bandwidth(vendor Vendor, percent int64) (int64, error) {
	if percent <= 0 || percent > 100 {
		return 0, fmt.Errorf("%d %% of the memory bandwidth is not between 1 and 100", percent)
	}
	switch vendor {
	case Intel:
		return (percent + intelStep - 1) / intelStep * intelStep, nil
	case AMD:
		if percent == 100 {
			return amdAll, nil
		}
		return max(amdScale*percent/100, 1), nil
	}
	return 0, fmt.Errorf("the memory bandwidth of vendor %.40q cannot be divided", vendor)
}
