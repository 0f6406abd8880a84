package batches

import "fmt"

// Trace records why moves were dropped. The zero value is ready for use; a Trace serves one call at a time.
type Trace struct {
	// Drops by the name of the move.
	Drops map[string]string `json:"drops,omitempty"`
}

func (t *Trace) begin() {
	if t != nil {
		*t = Trace{Drops: map[string]string{}}
	}
}

func (t *Trace) drop(move, because Move) {
	if t != nil {
		t.Drops[move.Name] = fmt.Sprintf("no room came free on node %s: %s did not move its pod to node %s", move.To, because.Name, because.To)
	}
}

// Message is why a move is dropped; empty for one that is not.
func (t *Trace) Message(verdict Verdict, name string) string {
	if verdict.Stopped {
		return fmt.Sprintf("the pass stopped: %d of %d moves failed", verdict.Failed, verdict.Started)
	}
	return t.Drops[name]
}
