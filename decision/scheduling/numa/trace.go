package numa

import (
	"koordinator.sh/koord/decision/core/cpuset"
)

// Trace records what Filter or Allocate looked at. The zero value is ready for use; a Trace serves one call at a time.
type Trace struct {
	// CPUs says how Allocate came to its CPUs.
	CPUs cpuset.Trace
	// Hints of each resource that was aligned, and what they were merged to.
	Hints  map[string][]Hint
	Merged Hint

	input Input
	terms terms
	// free is the CPUs that were looked at last.
	free cpuset.CPUSet
	// wanted and taken are milliCPU of an amplified node.
	wanted, taken int64
}

func (t *Trace) agreed(in *Input, terms terms) {
	if t != nil {
		t.input, t.terms = *in, terms
		t.free = in.Ledger.Free
	}
}

func (t *Trace) amplified(wanted, taken int64) {
	if t != nil {
		t.wanted, t.taken = wanted, taken
	}
}

func (t *Trace) looked(free cpuset.CPUSet) {
	if t != nil {
		t.free = free
	}
}

func (t *Trace) merged(providers map[string][]Hint, merged Hint) {
	if t != nil {
		t.Hints, t.Merged = providers, merged
	}
}

// cpus is the part for cpuset.Take.
func (t *Trace) cpus() *cpuset.Trace {
	if t == nil {
		return nil
	}
	return &t.CPUs
}
