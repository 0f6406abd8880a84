package predict

import (
	"math"
	"slices"
)

// Predictor estimates a peak. Implementations are values without state and may be used concurrently.
type Predictor interface {
	// Peak of the history's pods over its horizon. The history is not changed. It must be valid; see History.Validate.
	Peak(h *History) Peak
}

// Peak is a prediction and where it comes from.
type Peak struct {
	// Value in the unit of the usage.
	Value float64 `json:"value"`
	// Estimator that gave the value.
	Estimator string `json:"estimator"`
	// Terms the value was made of: operands of a formula, or the alternatives the largest was taken of.
	Terms []Term `json:"terms,omitempty"`
	// ColdPods counts pods that were taken to need their limit, because they are young.
	ColdPods int `json:"coldPods,omitempty"`
}

// Term is a named figure in the unit of the usage.
type Term struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`
}

// bounded closes a prediction: what warm pods are predicted to use is at most their limits and at least nothing, and cold
// pods are added at their limits.
func bounded(h *History, name string, pods []*Pod, cold, value float64, terms ...Term) Peak {
	most := 0.0
	for _, p := range pods {
		most += p.Limit
	}
	if value > most {
		terms = append(terms, Term{"cut to the limits", most})
	}
	if len(pods) < len(h.Pods) {
		terms = append(terms, Term{"limits of young pods", cold})
	}
	return Peak{Value: max(min(value, most), 0) + cold, Estimator: name, Terms: terms, ColdPods: len(h.Pods) - len(pods)}
}

// Max takes the largest of several predictions: the choice of a system that would rather give away less.
type Max []Predictor

// Peak is the largest; its terms are the alternatives.
func (m Max) Peak(h *History) Peak {
	var out Peak
	var terms []Term
	for i, predictor := range m {
		peak := predictor.Peak(h)
		terms = append(terms, Term{peak.Estimator, peak.Value})
		if i == 0 || peak.Value > out.Value {
			out = peak
		}
	}
	if len(m) > 1 {
		out.Terms = append(terms, out.Terms...)
	}
	return out
}

// WithMargin adds a safety margin in percent.
func WithMargin(value, percent float64) float64 { return value * (1 + percent/100) }

// percentile of values by nearest rank; 0 of none. The values are left as they are.
func percentile(values []float64, fraction float64) float64 {
	if len(values) == 0 {
		return 0
	}
	sorted := slices.Clone(values)
	slices.Sort(sorted)
	// Rounding must not turn the 95th of 100 values into the 96th.
	rank := int(math.Ceil(fraction*float64(len(sorted))-1e-9)) - 1
	return sorted[min(max(rank, 0), len(sorted)-1)]
}

func last[T any](values []T, n int) []T { return values[max(len(values)-n, 0):] }
