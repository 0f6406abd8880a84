package batches

import (
	"cmp"
	"slices"
)

// Verdict is which moves may start now, and which never will.
type Verdict struct {
	// Batches are the names of all moves in their order.
	Batches [][]string `json:"batches,omitempty"`
	// Current is the first batch that has not ended; len(Batches) when all have.
	Current int `json:"current"`
	// Start are the moves that may start now, Dropped those that never will.
	Start   []string `json:"start,omitempty"`
	Dropped []string `json:"dropped,omitempty"`
	// Stopped is true when too many moves failed: Failed of Started.
	Stopped bool `json:"stopped,omitempty"`
	Failed  int  `json:"failed"`
	Started int  `json:"started"`
}

// Decide says which moves of a pass may start now. A nil trace records nothing.
func Decide(in Input, trace *Trace) Verdict {
	trace.begin()
	moves := slices.Clone(in.Moves)
	slices.SortFunc(moves, func(a, b Move) int { return cmp.Compare(a.Name, b.Name) })
	graph := newGraph(moves)
	var verdict Verdict
	for _, batch := range graph.batches() {
		var names []string
		for _, i := range batch {
			names = append(names, moves[i].Name)
		}
		verdict.Batches = append(verdict.Batches, names)
	}
	verdict.stop(moves, in.FailureRatio)
	dropped := graph.dropped(moves, trace)
	verdict.Current = len(verdict.Batches)
	for number, batch := range graph.batches() {
		for _, i := range batch {
			if moves[i].State == Waiting && !dropped[i] && !verdict.Stopped || moves[i].State == Running {
				verdict.Current = min(verdict.Current, number)
			}
		}
	}
	for number, batch := range graph.batches() {
		for _, i := range batch {
			switch {
			case moves[i].State != Waiting:
			case verdict.Stopped || dropped[i]:
				verdict.Dropped = append(verdict.Dropped, moves[i].Name)
			case number == verdict.Current:
				verdict.Start = append(verdict.Start, moves[i].Name)
			}
		}
	}
	return verdict
}

// stop compares what failed with what was started.
func (v *Verdict) stop(moves []Move, ratio float64) {
	if !(ratio > 0) {
		ratio = DefaultFailureRatio
	}
	for _, move := range moves {
		if move.State != Waiting {
			v.Started++
		}
		if move.State == Failed {
			v.Failed++
		}
	}
	v.Stopped = ratio < 1 && float64(v.Failed) > ratio*float64(v.Started)
}
