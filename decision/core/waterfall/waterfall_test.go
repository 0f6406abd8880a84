package waterfall

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
)

func TestTheStepsMakeTheValue(t *testing.T) {
	w := New(diagnosticsv1alpha1.MilliCPU)
	w.Step(diagnosticsv1alpha1.Start, "capacity", 32_000, "")
	w.Step(diagnosticsv1alpha1.Times, "threshold", 65, "of the capacity")
	w.Inform("pods", 3, diagnosticsv1alpha1.Count, "")
	w.Step(diagnosticsv1alpha1.Minus, "used", 30_000, "")
	w.Step(diagnosticsv1alpha1.Max, "floor", 0, "").Note = "not below 0"
	value, terms := w.End("budget")
	want := []Term{
		{Name: "capacity", Operator: "start", Value: 32_000, Unit: "milliCPU"},
		{Name: "threshold", Operator: "times", Value: 65, Unit: "percent", Note: "of the capacity"},
		{Name: "pods", Operator: "info", Value: 3, Unit: "count"},
		{Name: "used", Operator: "minus", Value: 30_000, Unit: "milliCPU"},
		{Name: "floor", Operator: "max", Unit: "milliCPU", Note: "not below 0"},
		{Name: "budget", Operator: "result", Unit: "milliCPU"},
	}
	if diff := cmp.Diff(want, terms); diff != "" || value != 0 {
		t.Errorf("value %d, terms (-want +got):\n%s", value, diff)
	}
}

func TestSumsStayInRange(t *testing.T) {
	tests := map[string]struct {
		operator       diagnosticsv1alpha1.Operator
		value, operand int64
		want           int64
	}{
		"adding beyond the largest":                     {diagnosticsv1alpha1.Plus, math.MaxInt64, 1, math.MaxInt64},
		"taking away beyond the smallest":               {diagnosticsv1alpha1.Minus, math.MinInt64, 1, math.MinInt64},
		"taking the smallest away from a negative":      {diagnosticsv1alpha1.Minus, -5, math.MinInt64, math.MaxInt64 - 4},
		"taking the smallest away from nothing":         {diagnosticsv1alpha1.Minus, 0, math.MinInt64, math.MaxInt64},
		"the smaller of two":                            {diagnosticsv1alpha1.Min, 5, 3, 3},
		"a product beyond the largest":                  {diagnosticsv1alpha1.Times, math.MaxInt64, 200, math.MaxInt64},
		"an operand that is only shown changes nothing": {diagnosticsv1alpha1.Info, 7, 3, 7},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := Apply(tc.operator, tc.value, tc.operand); got != tc.want {
				t.Errorf("%d %s %d = %d, want %d", tc.value, tc.operator, tc.operand, got, tc.want)
			}
		})
	}
}

// TestTheTermsReplayToTheValue: applying the terms that are shown gives the value that is shown.
func TestTheTermsReplayToTheValue(t *testing.T) {
	operators := []diagnosticsv1alpha1.Operator{
		diagnosticsv1alpha1.Start, diagnosticsv1alpha1.Plus, diagnosticsv1alpha1.Minus, diagnosticsv1alpha1.Min,
		diagnosticsv1alpha1.Max, diagnosticsv1alpha1.Times,
	}
	rapid.Check(t, func(t *rapid.T) {
		w, silent := New(diagnosticsv1alpha1.Bytes), Waterfall{}
		for range rapid.IntRange(0, 10).Draw(t, "steps") {
			operator, operand := rapid.SampledFrom(operators).Draw(t, "operator"), rapid.Int64().Draw(t, "operand")
			w.Step(operator, "term", operand, "")
			if term := silent.Step(operator, "term", operand, ""); term != nil {
				t.Fatalf("a silent waterfall wrote %v", term)
			}
			silent.Inform("more", operand, diagnosticsv1alpha1.Count, "")
		}
		if value, terms := silent.End("result"); value != w.Value() || terms != nil || silent.Records() || !w.Records() {
			t.Fatalf("silent %d with %v, aloud %d", value, terms, w.Value())
		}
		value, terms := w.End("result")
		again := int64(0)
		for _, term := range terms {
			again = Apply(term.Operator, again, term.Value)
		}
		if again != value || terms[len(terms)-1].Value != value {
			t.Fatalf("the terms make %d, the value is %d", again, value)
		}
	})
}
