package eviction

import (
	"math"
	"time"

	"koordinator.sh/koord/decision/core/unknown"
)

// Trend is by how much the use of a node grows per second, in milli-cores and bytes; negative when it falls.
type Trend struct {
	// CPU and Memory; nil when not known.
	CPU    *float64 `json:"cpu,omitempty"`
	Memory *float64 `json:"memory,omitempty"`
}

// Distance is how far one feature is from evicting.
type Distance struct {
	Demand
	// Seconds until it is triggered if use goes on as it does: 0 when it is, nil when that is never or not known.
	Seconds *float64 `json:"seconds,omitempty"`
	// Held says why nothing, or no more, is evicted although more is wanted; empty otherwise.
	Held string `json:"held,omitempty"`
	// Next are the pods that would go first, at most as many as were asked for, and Omitted how many more there are.
	Next    []Candidate `json:"next,omitempty"`
	Omitted int         `json:"omitted,omitempty"`
	// CandidatesUnknown says why those are not known; empty when they are.
	CandidatesUnknown string `json:"candidatesUnknown,omitempty"`
	// Protected are the pods that the feature never takes as they are.
	Protected int `json:"protected,omitempty"`
}

// Forecast says how far each feature is from evicting, and which pods it would take first. Only features that look at use
// come closer by themselves; the others move when pods, offers or services change.
func Forecast(in Input, trend Trend, next int) []Distance {
	trace := &Trace{}
	plan := Decide(in, trace)
	out := make([]Distance, 0, len(plan.Outcomes))
	for i, outcome := range plan.Outcomes {
		considered := &trace.Considered[i]
		distance := Distance{Demand: outcome.Demand, Seconds: outcome.secondsUntil(trend), Held: outcome.Held, Protected: len(considered.Excluded)}
		distance.Next = considered.Candidates[:min(max(next, 0), len(considered.Candidates))]
		distance.Omitted = len(considered.Candidates) - len(distance.Next)
		if why := in.Unknown.Because(unknown.NodeSLOs, unknown.NodeMetrics, unknown.Pods); why != "" {
			distance.Next, distance.Omitted, distance.Held, distance.CandidatesUnknown = nil, 0, "", why
		}
		out = append(out, distance)
	}
	return out
}

// secondsUntil the demand is triggered.
func (d Demand) secondsUntil(trend Trend) *float64 {
	if d.State == Triggered {
		return new(float64)
	}
	slope := trend.Memory
	if d.Feature.Resource() == CPU {
		slope = trend.CPU
	}
	if d.State != Calm || d.Feature.ofRequests() || d.Feature == BECPUEvict || slope == nil || !(*slope > 0) {
		return nil
	}
	seconds := float64(d.Margin) / *slope
	if math.IsInf(seconds, 1) {
		return nil
	}
	return &seconds
}

// Sample is one measurement of use.
type Sample struct {
	At    time.Time
	Value float64
}

// leastSamples is how many samples make a slope.
const leastSamples = 3

// SlopeOf is the growth per second of samples in any order, by least squares; nil for fewer than three, or when they were
// all taken at the same time.
func SlopeOf(samples []Sample) *float64 {
	if len(samples) < leastSamples {
		return nil
	}
	first := samples[0].At
	var meanTime, meanValue float64
	for _, sample := range samples {
		meanTime += sample.At.Sub(first).Seconds() / float64(len(samples))
		meanValue += sample.Value / float64(len(samples))
	}
	var covariance, variance float64
	for _, sample := range samples {
		dt := sample.At.Sub(first).Seconds() - meanTime
		covariance += dt * (sample.Value - meanValue)
		variance += dt * dt
	}
	if variance == 0 {
		return nil
	}
	slope := covariance / variance
	return &slope
}
