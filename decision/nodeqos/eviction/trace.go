package eviction

// Trace records which pods each demand considered. The zero value is ready for use; a Trace serves one call at a time.
type Trace struct {
	// Considered by each of Plan.Outcomes, in their order, of demands that are calm, too.
	Considered []Considered `json:"considered,omitempty"`
}

// Considered is the pods that one demand looked at.
type Considered struct {
	// Candidates in the order in which they go; the victims come first.
	Candidates []Candidate `json:"candidates,omitempty"`
	// Excluded pods, ordered by name.
	Excluded []Exclusion `json:"excluded,omitempty"`
}

func (t *Trace) begin() {
	if t != nil {
		t.Considered = nil
	}
}

func (t *Trace) considered(candidates []Candidate, excluded []Exclusion) {
	if t != nil {
		t.Considered = append(t.Considered, Considered{Candidates: candidates, Excluded: excluded})
	}
}
