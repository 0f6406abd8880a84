package overcommit

import (
	"fmt"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/decision/core/waterfall"
)

// Trace records how each resource was computed. The zero value is ready for use and lists no parts; a Trace serves one call at a
// time.
type Trace struct {
	// MaxParts bounds the parts that are listed under a term. The caller sets it.
	MaxParts int
	// Waterfalls of the resources that could be computed, in the order of Resources.
	Waterfalls []diagnosticsv1alpha1.Waterfall
	// message of the waterfall at hand.
	message string
}

func (t *Trace) reset() {
	if t != nil {
		*t = Trace{MaxParts: t.MaxParts}
	}
}

// begin returns the waterfall of one resource, which writes nothing down without a trace.
func (t *Trace) begin(k kind) waterfall.Waterfall {
	if t == nil {
		return waterfall.Waterfall{}
	}
	t.message = ""
	return waterfall.New(k.unit())
}

// say records the calculation in upstream's words. Callers check for a trace first: building the arguments costs.
func (t *Trace) say(format string, values ...any) { t.message = fmt.Sprintf(format, values...) }

func (t *Trace) said(message string) {
	if t != nil {
		t.message = message
	}
}

func (t *Trace) end(k kind, policy string, w *waterfall.Waterfall) {
	result, terms := w.End("result")
	t.Waterfalls = append(t.Waterfalls, diagnosticsv1alpha1.Waterfall{
		Resource: string(k.name), Unit: k.unit(), Policy: policy, Terms: terms,
		Result: result, Degraded: policy == policyDegraded, Message: t.message,
	})
}

// of returns the waterfall of a resource, nil for one that could not be computed.
func (t *Trace) of(k kind) *diagnosticsv1alpha1.Waterfall {
	for i := range t.Waterfalls {
		if t.Waterfalls[i].Resource == string(k.name) {
			return &t.Waterfalls[i]
		}
	}
	return nil
}
