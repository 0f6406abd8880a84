package memoryqos

import (
	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/decision/core/waterfall"
)

// Trace records the steps to the values that are computed in several. The zero value is ready for use; a Trace serves one call at
// a time.
type Trace struct {
	// High is the steps to memory.high, for each container of which it is bounded.
	High []HighTrace `json:"high,omitempty"`
	// Reclaim is the steps to the bytes of one round.
	Reclaim []waterfall.Term `json:"reclaim,omitempty"`
}

// HighTrace is the steps to memory.high of one container.
type HighTrace struct {
	Namespace string           `json:"namespace"`
	Pod       string           `json:"pod"`
	Container string           `json:"container"`
	Terms     []waterfall.Term `json:"terms"`
}

func (t *Trace) begin() {
	if t != nil {
		*t = Trace{}
	}
}

// steps is a waterfall in bytes, which writes nothing down without a trace.
func (t *Trace) steps() waterfall.Waterfall {
	if t == nil {
		return waterfall.Waterfall{}
	}
	return waterfall.New(diagnosticsv1alpha1.Bytes)
}

// throttled records how the bound of a container came about, when there is one.
func (t *Trace) throttled(pod *Pod, container string, w *waterfall.Waterfall) {
	if t == nil {
		return
	}
	if _, terms := w.End("high"); len(terms) > 1 {
		t.High = append(t.High, HighTrace{Namespace: pod.Namespace, Pod: pod.Name, Container: container, Terms: terms})
	}
}

func (t *Trace) reclaimed(w *waterfall.Waterfall) {
	if t != nil {
		_, t.Reclaim = w.End("bytes")
	}
}
