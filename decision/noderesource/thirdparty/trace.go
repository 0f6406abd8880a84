package thirdparty

import (
	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/decision/core/waterfall"
)

const (
	start   = diagnosticsv1alpha1.Start
	minus   = diagnosticsv1alpha1.Minus
	minimum = diagnosticsv1alpha1.Min
	maximum = diagnosticsv1alpha1.Max
)

// Trace records the steps to what an engine should have. The zero value is ready for use; a Trace serves one call at a time.
type Trace struct {
	// CPU is the steps to cpu in milli-cores, Memory those to memory in bytes.
	CPU    []waterfall.Term `json:"cpu,omitempty"`
	Memory []waterfall.Term `json:"memory,omitempty"`
}

func (t *Trace) begin() {
	if t != nil {
		*t = Trace{}
	}
}

// steps is a waterfall, which writes nothing down without a trace.
func (t *Trace) steps(k kind) waterfall.Waterfall {
	if t == nil {
		return waterfall.Waterfall{}
	}
	return waterfall.New(k.unit())
}

func (t *Trace) done(p part) {
	switch {
	case t == nil:
	case p.kind == cpuKind:
		_, t.CPU = p.steps.End("capacity")
	default:
		_, t.Memory = p.steps.End("capacity")
	}
}
