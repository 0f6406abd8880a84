package waterfall

import (
	"math"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/decision/core/capacity"
)

// Term is one step as it is shown to people.
type Term = diagnosticsv1alpha1.Term

// Waterfall is a running value with the terms that made it. The zero value is silent: it computes the same and writes down no terms,
// without allocating. It is not safe for concurrent use.
type Waterfall struct {
	unit    diagnosticsv1alpha1.Unit
	value   int64
	terms   []Term
	records bool
}

// New begins a waterfall whose terms are in the unit; those that multiply are in percent.
func New(unit diagnosticsv1alpha1.Unit) Waterfall { return Waterfall{unit: unit, records: true} }

// Records says whether terms are written down.
func (w *Waterfall) Records() bool { return w.records }

// Step applies an operand to the running value and returns the term that it wrote, for a note or parts to be added; nil when
// nothing is written down. The pointer is good until the next step.
func (w *Waterfall) Step(operator diagnosticsv1alpha1.Operator, name string, operand int64, note string) *Term {
	w.value = Apply(operator, w.value, operand)
	if !w.records {
		return nil
	}
	unit := w.unit
	if operator == diagnosticsv1alpha1.Times {
		unit = diagnosticsv1alpha1.Percent
	}
	w.terms = append(w.terms, Term{Name: name, Operator: operator, Value: operand, Unit: unit, Note: note})
	return &w.terms[len(w.terms)-1]
}

// Inform writes down a value that does not enter the running one.
func (w *Waterfall) Inform(name string, value int64, unit diagnosticsv1alpha1.Unit, note string) {
	if !w.records {
		return
	}
	w.terms = append(w.terms, Term{Name: name, Operator: diagnosticsv1alpha1.Info, Value: value, Unit: unit, Note: note})
}

// Value is the running value.
func (w *Waterfall) Value() int64 { return w.value }

// End writes the running value as the result and returns it with all terms; a silent one has none.
func (w *Waterfall) End(name string) (int64, []Term) {
	w.Step(diagnosticsv1alpha1.Result, name, w.value, "")
	return w.value, w.terms
}

// Apply is what each operator does. Sums that leave the range of int64 stay at its end.
func Apply(operator diagnosticsv1alpha1.Operator, value, operand int64) int64 {
	switch operator {
	case diagnosticsv1alpha1.Start:
		return operand
	case diagnosticsv1alpha1.Plus:
		return Add(value, operand)
	case diagnosticsv1alpha1.Minus:
		if operand == math.MinInt64 {
			return Add(Add(value, math.MaxInt64), 1)
		}
		return Add(value, -operand)
	case diagnosticsv1alpha1.Min:
		return min(value, operand)
	case diagnosticsv1alpha1.Max:
		return max(value, operand)
	case diagnosticsv1alpha1.Times:
		return capacity.Percent(value, operand)
	}
	return value
}

// Add is a sum that stays at the end of the range of int64 rather than leaving it.
func Add(a, b int64) int64 {
	sum := a + b
	switch {
	case a > 0 && b > 0 && sum < 0:
		return math.MaxInt64
	case a < 0 && b < 0 && sum >= 0:
		return math.MinInt64
	}
	return sum
}
