package eviction

import (
	"koordinator.sh/koord/decision/core/podrequest"
	"koordinator.sh/koord/decision/core/waterfall"
)

// Trace records how much each demand wants released, and which pods it considered. The zero value is ready for use; a Trace
// serves one call at a time.
type Trace struct {
	// Releases are the steps to what is wanted, of the demands that are triggered.
	Releases []Release `json:"releases,omitempty"`
	// Considered by each of Plan.Outcomes, in their order, of demands that are calm, too.
	Considered []Considered `json:"considered,omitempty"`
}

// Release is the steps to what one demand wants released.
type Release struct {
	Feature Feature          `json:"feature"`
	Tier    podrequest.Tier  `json:"tier,omitempty"`
	Terms   []waterfall.Term `json:"terms"`
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
		*t = Trace{}
	}
}

// steps is the waterfall of a demand, which writes nothing down without a trace.
func (t *Trace) steps(demand *Demand) waterfall.Waterfall {
	if t == nil {
		return waterfall.Waterfall{}
	}
	return waterfall.New(demand.Unit)
}

// released ends the waterfall of a demand, and returns what it came to.
func (t *Trace) released(demand *Demand, w *waterfall.Waterfall) int64 {
	release, terms := w.End("release")
	if t != nil {
		t.Releases = append(t.Releases, Release{Feature: demand.Feature, Tier: demand.Tier, Terms: terms})
	}
	return release
}

func (t *Trace) considered(candidates []Candidate, excluded []Exclusion) {
	if t != nil {
		t.Considered = append(t.Considered, Considered{Candidates: candidates, Excluded: excluded})
	}
}
