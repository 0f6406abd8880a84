package predict

import (
	"fmt"
	"time"
)

// ReplayOptions say how a recorded load is replayed.
type ReplayOptions struct {
	// Horizon is how far ahead a peak is predicted; 1 hour by default.
	Horizon time.Duration
	// Every is the time between two predictions; 1 hour by default.
	Every time.Duration
	// WarmUp is the least history before the first prediction; 2 hours by default.
	WarmUp time.Duration
	// ColdStart is the age below which pods count at their limit; 0 for none.
	ColdStart time.Duration
	// Keep bounds the history that predictors see; 7 days by default.
	Keep time.Duration
}

// WithDefaults fills in what is not set.
func (o ReplayOptions) WithDefaults() ReplayOptions {
	for _, each := range []struct {
		value    *time.Duration
		fallback time.Duration
	}{{&o.Horizon, time.Hour}, {&o.Every, time.Hour}, {&o.WarmUp, 2 * time.Hour}, {&o.Keep, 7 * day}} {
		if *each.value <= 0 {
			*each.value = each.fallback
		}
	}
	return o
}

// Node is one machine of a recorded load, all of it: pods with what they used from its first step to its last.
type Node struct {
	Name     string
	Resource Resource
	// Start is the time of the first value of the longest pod.
	Start time.Time
	Step  time.Duration
	Pods  []Pod
}

// Score is how a predictor did. Rates are shares from 0 to 1 of the points.
type Score struct {
	// Points is the number of predictions.
	Points int `json:"points"`
	// Violations counts predictions that the pods exceeded within the horizon.
	Violations int `json:"violations"`
	// ViolationRate is the share of such predictions.
	ViolationRate float64 `json:"violationRate"`
	// Severity is by how much of the prediction it was exceeded, on average over all points.
	Severity float64 `json:"severity"`
	// Savings is the share of the limits that was predicted not to be used, on average.
	Savings float64 `json:"savings"`
	// OracleSavings is the upper bound of Savings: the share that was not used in the end.
	OracleSavings float64 `json:"oracleSavings"`
	// PeakRatio is the sum of all predictions over the sum of all peaks; 1 is perfect.
	PeakRatio float64 `json:"peakRatio"`
}

// Tally collects predictions and what came, for a Score. The zero value is empty. It is not safe for concurrent use.
type Tally struct {
	points, violations        int
	severity, savings, oracle float64
	predicted, peaks          float64
}

// Replay predicts again and again along the recordings and compares each prediction with what came. Its error names the
// node that cannot be replayed.
func Replay(predictor Predictor, nodes []Node, options ReplayOptions) (Score, error) {
	options = options.WithDefaults()
	var t Tally
	for i := range nodes {
		if err := t.node(predictor, &nodes[i], options); err != nil {
			return Score{}, fmt.Errorf("replay node %q: %w", nodes[i].Name, err)
		}
	}
	return t.Score(), nil
}

func (t *Tally) node(predictor Predictor, n *Node, o ReplayOptions) error {
	h := History{Resource: n.Resource, Step: n.Step, ColdStart: o.ColdStart, Horizon: o.Horizon, Pods: append([]Pod(nil), n.Pods...)}
	if err := h.Validate(); err != nil {
		return err
	}
	all := make([]*Pod, len(n.Pods))
	for i := range n.Pods {
		all[i] = &n.Pods[i]
	}
	used := sums(all, int(^uint(0)>>1))
	limits, ahead, every := h.limits(), h.steps(o.Horizon), h.steps(o.Every)
	if limits == 0 {
		return nil
	}
	for at := h.steps(o.WarmUp); at+ahead <= len(used); at += every {
		h.Now = n.Start.Add(n.Step * time.Duration(at-1))
		for i := range n.Pods {
			// Histories end at the same step; a shorter one began later.
			began := len(used) - len(n.Pods[i].Usage)
			h.Pods[i].Usage = last(n.Pods[i].Usage[:max(at-began, 0)], h.steps(o.Keep))
		}
		t.Add(predictor.Peak(&h).Value, peakOf(all, used, at, ahead), limits)
	}
	return nil
}

// peakOf is the largest sum from a step on, of the pods that existed at that step: pods that came later
// could not be predicted.
func peakOf(pods []*Pod, used []float64, at, ahead int) float64 {
	most := 0.0
	for step := at; step < at+ahead; step++ {
		sum := 0.0
		for _, p := range pods {
			if began := len(used) - len(p.Usage); began < at {
				sum += p.Usage[step-began]
			}
		}
		most = max(most, sum)
	}
	return most
}

// tolerance keeps rounding from counting as a violation.
const tolerance = 1e-9

// Add counts one prediction, the peak that came, and the limits, which must be above 0.
func (t *Tally) Add(predicted, peak, limits float64) {
	t.points++
	t.predicted += predicted
	t.peaks += peak
	t.savings += 1 - predicted/limits
	t.oracle += 1 - peak/limits
	if peak > predicted*(1+tolerance) {
		t.violations++
		t.severity += (peak - predicted) / max(predicted, limits*tolerance)
	}
}

// Score is the rates and averages of what was added; zero of nothing.
func (t *Tally) Score() Score {
	if t.points == 0 {
		return Score{}
	}
	n := float64(t.points)
	s := Score{
		Points: t.points, Violations: t.violations, ViolationRate: float64(t.violations) / n,
		Severity: t.severity / n, Savings: t.savings / n, OracleSavings: t.oracle / n,
	}
	if t.peaks > 0 {
		s.PeakRatio = t.predicted / t.peaks
	}
	return s
}
