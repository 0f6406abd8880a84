package recommend

import (
	"math"
	"time"
)

// Rule is how bounds come from a histogram.
type Rule struct {
	// Lower, Target and Upper are percentiles, 0 to 1.
	Lower, Target, Upper float64
	// MarginPercent is added to all of them.
	MarginPercent float64
	// PodMinimum is what the containers of a pod get at least, together.
	PodMinimum float64
}

// Options of a recommendation.
type Options struct{ CPU, Memory Rule }

// DefaultOptions are those of the Vertical Pod Autoscaler: the 90th percentile and 15 %, at least 25 milli-cores and 250 MiB
// a pod. Memory takes the 98th percentile, because it is sampled all the time and not once a day at its peak.
func DefaultOptions() Options {
	return Options{
		CPU:    Rule{Lower: 0.5, Target: 0.9, Upper: 0.95, MarginPercent: 15, PodMinimum: 0.025},
		Memory: Rule{Lower: 0.5, Target: 0.98, Upper: 1, MarginPercent: 15, PodMinimum: 250 << 20},
	}
}

// Bounds of one resource: milli-cores or bytes. Lower is at most Target, and Target at most Upper.
type Bounds struct {
	Lower, Target, Upper int64
}

// Recommendation for the containers of one name.
type Recommendation struct {
	CPU, Memory Bounds
	// Confidence grows by 1 for each day that was observed, or for each ten runs of a job; below 1 the bounds are wide.
	Confidence float64
	// OfJob is true where it rests on runs of a job instead of samples.
	OfJob bool
}

// Confident says whether a day, or ten runs, or more was observed.
func (r *Recommendation) Confident() bool { return r.Confidence >= 1 }

// Known says whether there is anything to recommend from.
func (c *Container) Known() bool { return c.Job != nil || !c.CPU.Empty() || !c.Memory.Empty() }

// Recommend derives what the containers should request; a pod has so many of them, at least one. It must be Known. A nil trace
// records nothing.
func (c *Container) Recommend(o Options, containers int, at time.Time, trace *Trace) Recommendation {
	confidence := c.Observed()
	share := 1 / float64(max(containers, 1))
	const milli, bytes = 1000, 1
	if job := c.Job; job != nil {
		return Recommendation{
			CPU:        job.bounds(job.CPU, whole(o.CPU.PodMinimum*share*milli), 0, milli, trace.cpu()),
			Memory:     job.bounds(job.Memory, whole(o.Memory.PodMinimum*share), whole(c.oomFloor(at)), bytes, trace.memory()),
			Confidence: job.confidence(), OfJob: true,
		}
	}
	cpu := o.CPU.bounds(c.CPU.Percentile, 0, confidence, share, milli, trace.cpu())
	memory := o.Memory.bounds(c.Memory.Percentile, c.oomFloor(at), confidence, share, bytes, trace.memory())
	return Recommendation{CPU: cpu, Memory: memory, Confidence: confidence}
}

// Observed is the days from the first to the latest sample, or those that the observed minutes add up to if they are fewer.
func (c *Container) Observed() float64 {
	return min(c.Last.Sub(c.First).Hours()/24, c.Minutes/(24*60))
}

// bounds of a resource, scaled from its unit to whole numbers. No target is below floor. Terms, where they are asked for, are how the
// target came about.
func (r Rule) bounds(percentile func(float64) float64, floor, confidence, share, scale float64, terms *[]Term) Bounds {
	margin := 1 + r.MarginPercent/100
	least := r.PodMinimum * share
	estimate := func(fraction float64) float64 { return max(percentile(fraction)*margin, least) }
	// The widths are the Vertical Pod Autoscaler's: with a day of observation the upper bound is doubled, and the lower one
	// hardly lowered.
	wider := 1 + 1/max(confidence, 1e-6)
	narrower := math.Pow(1+0.001/max(confidence, 1e-6), -2)
	target := max(estimate(r.Target), floor)
	lower := min(max(estimate(r.Lower)*narrower, least, floor), target)
	upper := max(estimate(r.Upper)*wider, target)
	if terms != nil {
		*terms = []Term{{TermPercentile, percentile(r.Target)}, {TermMargin, r.MarginPercent}, {TermMinimum, least}}
		if floor > 0 {
			*terms = append(*terms, Term{TermOutOfMemory, floor})
		}
	}
	return Bounds{Lower: whole(lower * scale), Target: whole(target * scale), Upper: whole(upper * scale)}
}

// whole rounds up, and stops at the largest amount.
func whole(value float64) int64 {
	if value >= math.MaxInt64/2 {
		return math.MaxInt64 / 2
	}
	return int64(math.Ceil(value - 1e-9))
}
