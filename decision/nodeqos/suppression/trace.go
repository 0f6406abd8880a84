package suppression

import (
	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/decision/core/cpuset"
	"koordinator.sh/koord/decision/core/waterfall"
)

// Trace records how a decision came about. The zero value is ready for use; a Trace serves one call at a time.
type Trace struct {
	// Budget is the steps from the capacity to the budget; none when it was not computed.
	Budget []waterfall.Term `json:"budget,omitempty"`
	// CPUs says how many there are and where from.
	CPUs CPUTrace `json:"cpus,omitzero"`
}

// CPUTrace is how CPUs were chosen.
type CPUTrace struct {
	CPUCount
	// Excluded CPUs by owner.
	Excluded []ExcludedCount `json:"excluded,omitempty"`
	// Pools the CPUs were taken from.
	Pools []PoolShare `json:"pools,omitempty"`
}

// ExcludedCount is how many CPUs one owner keeps.
type ExcludedCount struct {
	Owner string `json:"owner"`
	Count int    `json:"count"`
	List  string `json:"cpus,omitempty"`
}

// PoolShare is what one pool gives.
type PoolShare struct {
	// Pool is LSR, lent by its owners, or shared.
	Pool string `json:"pool"`
	// Available CPUs of the pool, and those taken of them.
	Available int    `json:"available"`
	Taken     int    `json:"taken"`
	List      string `json:"cpus,omitempty"`
	// WholeCores taken.
	WholeCores int `json:"wholeCores"`
}

func (t *Trace) begin() {
	if t != nil {
		*t = Trace{}
	}
}

// steps is the waterfall of the budget, which writes nothing down without a trace.
func (t *Trace) steps() waterfall.Waterfall {
	if t == nil {
		return waterfall.Waterfall{}
	}
	return waterfall.New(diagnosticsv1alpha1.MilliCPU)
}

func (t *Trace) budget(terms []waterfall.Term) {
	if t != nil {
		t.Budget = terms
	}
}

func (t *Trace) beginCPUs() {
	if t != nil {
		t.CPUs = CPUTrace{}
	}
}

func (t *Trace) excluded(owner string, cpus cpuset.CPUSet) {
	if t != nil {
		t.CPUs.Excluded = append(t.CPUs.Excluded, ExcludedCount{Owner: owner, Count: cpus.Len(), List: cpus.String()})
	}
}

func (t *Trace) counted(count CPUCount) {
	if t != nil {
		t.CPUs.CPUCount = count
	}
}

func (t *Trace) took(pool string, available, taken cpuset.CPUSet, wholeCores int) {
	if t != nil {
		t.CPUs.Pools = append(t.CPUs.Pools, PoolShare{
			Pool: pool, Available: available.Len(), Taken: taken.Len(), List: taken.String(), WholeCores: wholeCores,
		})
	}
}
