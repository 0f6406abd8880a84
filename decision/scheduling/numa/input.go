package numa

import (
	"koordinator.sh/koord/decision/core/cpuset"
)

// Input of Filter, Allocate and Score.
type Input struct {
	Args    *Args
	Ledger  *Ledger
	Request *Request
	// AllocatableMilliCPU and RequestedMilliCPU of the whole node, as its allocatable and its pods say.
	AllocatableMilliCPU, RequestedMilliCPU int64
	// Preferred CPUs are taken first, such as those a reservation holds for the pod.
	Preferred cpuset.CPUSet
	// Others are the hints of other plugins, by resource.
	Others map[string][]Hint
}
