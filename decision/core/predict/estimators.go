package predict

import (
	"fmt"
	"math"
	"time"
)

// NSigma is the mean of the sum of all pods plus N standard deviations, over a window.
type NSigma struct {
	N      float64
	Window time.Duration
}

// Peak of CPU. Of memory, which gives no second chance, it is the largest sum in the window.
func (p NSigma) Peak(h *History) Peak {
	pods, cold := h.warm()
	used := sums(pods, h.steps(p.Window))
	if h.Resource == Memory {
		most := 0.0
		for _, value := range used {
			most = max(most, value)
		}
		return bounded(h, "largest sum in "+hours(p.Window), pods, cold, most)
	}
	mean, deviation := moments(used)
	return bounded(h, fmt.Sprintf("%g-sigma over %s", p.N, hours(p.Window)), pods, cold, mean+p.N*deviation,
		Term{"mean", mean}, Term{"standard deviation", deviation})
}

// moments are the mean and the standard deviation, computed in a way that does not lose digits to large means.
func moments(values []float64) (mean, deviation float64) {
	squares := 0.0
	for i, value := range values {
		delta := value - mean
		mean += delta / float64(i+1)
		squares += delta * (value - mean)
	}
	if len(values) == 0 {
		return 0, 0
	}
	return mean, math.Sqrt(max(squares, 0) / float64(len(values)))
}

// RCLike is the sum of each pod's percentile, as Resource Central's.
type RCLike struct {
	// Fraction is the percentile, 0 to 1. Of memory it is 0.98 at least.
	Fraction float64
	Window   time.Duration
}

// Peak adds up percentiles.
func (p RCLike) Peak(h *History) Peak {
	fraction := p.Fraction
	if h.Resource == Memory {
		fraction = max(fraction, KoordinatorMemory.Fraction)
	}
	pods, cold := h.warm()
	sum := 0.0
	for _, pod := range pods {
		sum += percentile(last(pod.Usage, h.steps(p.Window)), fraction)
	}
	return bounded(h, fmt.Sprintf("sum of pods' p%g over %s", fraction*100, hours(p.Window)), pods, cold, sum)
}

// Seasonal is the largest sum in the same hours of the days before, with a margin.
type Seasonal struct {
	// Days to look back, 7 at most.
	Days int
	// MarginPercent is added.
	MarginPercent float64
	// MinimumCorrelation with the day before, -1 to 1, below which there is no season and Otherwise predicts alone.
	MinimumCorrelation float64
	// Otherwise predicts loads without a season; it must not be nil.
	Otherwise Predictor
}

// Peak of a load with a daily rhythm.
func (p Seasonal) Peak(h *History) Peak {
	pods, cold := h.warm()
	day := h.steps(24 * time.Hour)
	used := sums(pods, day*p.Days)
	correlation, known := correlation(used, day)
	if !known || correlation < p.MinimumCorrelation {
		out := p.Otherwise.Peak(h)
		if known {
			out.Terms = append(out.Terms, Term{"correlation with the day before", correlation})
		}
		return out
	}
	most, ahead := 0.0, h.steps(h.Horizon)
	for start := len(used) - day; start > -ahead; start -= day {
		for i := max(start, 0); i < min(start+ahead, len(used)); i++ {
			most = max(most, used[i])
		}
	}
	return bounded(h, fmt.Sprintf("same hours of %d days", p.Days), pods, cold, WithMargin(most, p.MarginPercent),
		Term{"correlation with the day before", correlation}, Term{"maximum", most}, Term{"margin in percent", p.MarginPercent})
}

// correlation of values with those a lag earlier; it is not known without half a lag of them.
func correlation(values []float64, lag int) (float64, bool) {
	n := len(values) - lag
	if n < lag/2 || n < 2 {
		return 0, false
	}
	before, after := values[:n], values[lag:]
	meanBefore, deviationBefore := moments(before)
	meanAfter, deviationAfter := moments(after)
	if deviationBefore == 0 || deviationAfter == 0 {
		return 0, false
	}
	sum := 0.0
	for i := range before {
		sum += (before[i] - meanBefore) * (after[i] - meanAfter)
	}
	return sum / float64(n) / deviationBefore / deviationAfter, true
}

// Static is a share of all limits, for nodes about which nothing is known.
type Static struct{ Share float64 }

// Peak is the share of the limits.
func (p Static) Peak(h *History) Peak {
	limits := h.limits()
	return Peak{Value: p.Share * limits, Estimator: fmt.Sprintf("%g%% of the limits", p.Share*100), Terms: []Term{{"limits", limits}}}
}

// ByCount chooses by the number of pods: below it few peaks cancel out.
type ByCount struct {
	Pods        int
	Few, Enough Predictor
}

// Peak of the predictor for so many pods.
func (p ByCount) Peak(h *History) Peak {
	if len(h.Pods) < p.Pods {
		return p.Few.Peak(h)
	}
	return p.Enough.Peak(h)
}

func hours(d time.Duration) string { return fmt.Sprintf("%gh", d.Hours()) }
