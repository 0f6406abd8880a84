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
	// ARM is any implementer: MPAM counts in percent. Its processors have a number instead of a name.
	ARM Vendor = "ARM"
)

// Bandwidth of the two kinds.
const (
	// percentStep is the usual step of percentages, and the least of them.
	percentStep = 10
	// amdAll is AMD's value for no bound: the least figure above all bandwidths; amdScale that for all of it as a bound.
	amdAll   = 2048
	amdScale = 160
)

// Bandwidth is the value of memory bandwidth for a percentage, on a processor with the usual steps. A vendor that is not known is
// an error: a figure that means percent on one processor means eighths of a gigabyte per second on another.
func Bandwidth(vendor Vendor, percent int64) (int64, error) {
	return BandwidthInSteps(vendor, percent, 0, 0)
}

// BandwidthInSteps is Bandwidth on a processor with the given step and least percentage; 0 stands for the usual 10 of each.
// Percentages are rounded up to the next step, so that no group gets less than it was promised.
func BandwidthInSteps(vendor Vendor, percent, step, least int64) (int64, error) {
	if percent <= 0 || percent > 100 {
		return 0, fmt.Errorf("%d%% of the memory bandwidth is not between 1 and 100", percent)
	}
	if step <= 0 || step > 100 {
		step = percentStep
	}
	switch vendor {
	case Intel, ARM:
		return min(max((percent+step-1)/step*step, least), 100), nil
	case AMD:
		if percent == 100 {
			return amdAll, nil
		}
		return max(amdScale*percent/100, 1), nil
	}
	return 0, fmt.Errorf("the memory bandwidth of vendor %.40q cannot be divided", vendor)
}
