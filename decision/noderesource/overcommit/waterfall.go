package overcommit

import (
	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	arithmetic "koordinator.sh/koord/decision/core/waterfall"
)

// waterfall is a running value. With a recorder every step is written down; without one only the value is kept.
type waterfall struct {
	value int64
	rec   *recorder
}

// recorder collects the terms of one waterfall.
type recorder struct {
	unit  diagnosticsv1alpha1.Unit
	terms []diagnosticsv1alpha1.Term
	// maxParts bounds the parts kept under a term.
	maxParts int
	message  string
}

// step applies an operand to the running value. It returns the recorded term, for adding its source, or nil.
func (w *waterfall) step(operator diagnosticsv1alpha1.Operator, name string, operand int64) *diagnosticsv1alpha1.Term {
	w.value = apply(operator, w.value, operand)
	if w.rec == nil {
		return nil
	}
	unit := w.rec.unit
	if operator == diagnosticsv1alpha1.Times {
		unit = diagnosticsv1alpha1.Percent
	}
	w.rec.terms = append(w.rec.terms, diagnosticsv1alpha1.Term{Name: name, Operator: operator, Value: operand, Unit: unit})
	return &w.rec.terms[len(w.rec.terms)-1]
}

// apply is what each operator does. Sums that leave the range of int64 stay at its end.
func apply(operator diagnosticsv1alpha1.Operator, value, operand int64) int64 {
	return arithmetic.Apply(operator, value, operand)
}

// add is a sum that stays at the end of the range of int64 rather than leaving it.
func add(a, b int64) int64 { return arithmetic.Add(a, b) }
