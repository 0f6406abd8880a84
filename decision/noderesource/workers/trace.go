package workers

import (
	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/decision/core/waterfall"
)

// Trace records how the size came about. The zero value is ready for use; a Trace serves one call at a time.
type Trace struct {
	// Terms lead from what fits to the size, in workers.
	Terms []waterfall.Term
	// Rooms are the nodes, those with most workers and most room first.
	Rooms []Room
	// Candidates are the workers that are not draining, in the order in which they go.
	Candidates []Candidate
}

func (t *Trace) begin() {
	if t != nil {
		*t = Trace{}
	}
}

// steps is a waterfall in workers, which writes nothing down without a trace.
func (t *Trace) steps() waterfall.Waterfall {
	if t == nil {
		return waterfall.Waterfall{}
	}
	return waterfall.New(diagnosticsv1alpha1.Count)
}

func (t *Trace) done(terms []waterfall.Term, rooms []Room, candidates []Candidate) {
	if t != nil {
		t.Terms, t.Rooms, t.Candidates = terms, rooms, candidates
	}
}
