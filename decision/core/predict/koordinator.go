package predict

import (
	"time"

	"koordinator.sh/koord/decision/core/histogram"
)

// HistogramRule is how Koordinator's predictor learns one resource.
type HistogramRule struct {
	Buckets *histogram.Exponential
	// HalfLife of a sample's weight.
	HalfLife time.Duration
	// Fraction is the percentile that counts as the peak, 0 to 1.
	Fraction float64
}

// The rules of Koordinator: the 95th percentile of CPU with a half-life of 12 hours, the 98th of memory with 24 hours.
var (
	KoordinatorCPU    = HistogramRule{histogram.CPU(), 12 * time.Hour, 0.95}
	KoordinatorMemory = HistogramRule{histogram.Memory(), 24 * time.Hour, 0.98}
)

// New returns an empty histogram of the rule.
func (r HistogramRule) New() *histogram.Histogram { return histogram.New(r.Buckets, r.HalfLife) }

// Peak of what a histogram learned, with a margin.
func (r HistogramRule) Peak(h *histogram.Histogram, marginPercent float64) float64 {
	return WithMargin(h.Percentile(r.Fraction), marginPercent)
}

// Koordinator is the predictor of Koordinator's agent: one peak a pod, added up, and the peak of the sum; the larger counts.
type Koordinator struct {
	// MarginPercent is added to each peak; Koordinator's default is 10.
	MarginPercent float64
}

// halfLivesKept is how far back samples still matter: after 10 half-lives they weigh a thousandth.
const halfLivesKept = 10

// Peak is the larger of the two.
func (p Koordinator) Peak(h *History) Peak {
	rule := KoordinatorCPU
	if h.Resource == Memory {
		rule = KoordinatorMemory
	}
	pods, cold := h.warm()
	n := h.steps(halfLivesKept * rule.HalfLife)
	byPod := 0.0
	for _, pod := range pods {
		byPod += p.learned(h, rule, last(pod.Usage, n))
	}
	bySum := p.learned(h, rule, sums(pods, n))
	return bounded(h, "Koordinator", pods, cold, max(byPod, bySum), Term{"sum of pods' peaks", byPod}, Term{"peak of the sum", bySum})
}

// learned is the peak of a histogram of values.
func (p Koordinator) learned(h *History, rule HistogramRule, values []float64) float64 {
	model := rule.New()
	for i, value := range values {
		model.Add(value, 1, h.Now.Add(-h.Step*time.Duration(len(values)-1-i)))
	}
	return rule.Peak(model, p.MarginPercent)
}
