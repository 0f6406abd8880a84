package metrics

import (
	"slices"
	"time"

	"koordinator.sh/koord/agent/host"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
)

// Defaults of a node's measurements, from the API's defaults for NodeMetric.
const (
	DefaultPeriod    = time.Second
	DefaultAggregate = 5 * time.Minute
	// MaxDuration bounds the windows a NodeMetric may ask for.
	MaxDuration = 24 * time.Hour
	// minAggregate is the shortest window that averages are taken over.
	minAggregate = time.Minute
	// maxDurations bounds how many windows a NodeMetric may ask for.
	maxDurations = 8
)

// Policy says how often samples are taken and over which windows they are aggregated.
type Policy struct {
	// Period between samples; one second by default.
	Period time.Duration
	// Aggregate is the window of the averages: five minutes by default, at least one.
	Aggregate time.Duration
	// Durations are the windows of the percentiles; 5, 10 and 30 minutes by default.
	Durations []time.Duration
	// Memory says which page cache counts as used in averages and percentiles; none by default, which is written as "".
	Memory slov1alpha1.NodeMemoryCollectPolicy
}

// DefaultDurations are the windows of the percentiles unless the NodeMetric names others.
func DefaultDurations() []time.Duration {
	return []time.Duration{5 * time.Minute, 10 * time.Minute, 30 * time.Minute}
}

// WithDefaults fills in what is zero and cuts what is out of bounds: windows to a day, eight of them at most, sorted,
// without those that are not positive.
func (p Policy) WithDefaults() Policy {
	if p.Period <= 0 {
		p.Period = DefaultPeriod
	}
	if p.Aggregate <= 0 {
		p.Aggregate = DefaultAggregate
	}
	p.Aggregate = min(max(p.Aggregate, minAggregate), MaxDuration)
	if p.Memory != slov1alpha1.UsageWithPageCache && p.Memory != slov1alpha1.UsageWithHotPageCache {
		p.Memory = ""
	}
	durations := make([]time.Duration, 0, len(p.Durations))
	for _, d := range p.Durations {
		if d > 0 {
			durations = append(durations, min(d, MaxDuration))
		}
	}
	if len(durations) == 0 {
		durations = DefaultDurations()
	}
	slices.Sort(durations)
	durations = slices.Compact(durations)
	p.Durations = durations[:min(len(durations), maxDurations)]
	return p
}

// Equal reports whether two policies ask for the same.
func (p Policy) Equal(other Policy) bool {
	return p.Period == other.Period && p.Aggregate == other.Aggregate && p.Memory == other.Memory && slices.Equal(p.Durations, other.Durations)
}

// memory is what counts of a counter. Page cache of which it is not known whether it is hot counts as hot, so that a kernel that
// shows less never makes a node look emptier.
func (p Policy) memory(counter host.Counter) int64 {
	switch p.Memory {
	case slov1alpha1.UsageWithPageCache:
		return counter.Memory + counter.Cache
	case slov1alpha1.UsageWithHotPageCache:
		return counter.Memory + max(counter.Cache-counter.Cold, 0)
	}
	return counter.Memory
}

// Longest returns the longest window.
func (p Policy) Longest() time.Duration {
	longest := p.Aggregate
	for _, duration := range p.Durations {
		longest = max(longest, duration)
	}
	return longest
}

// samples is how many samples a window holds.
func (p Policy) samples(window time.Duration) int {
	return int(min(window/p.Period+1, MaxSamples))
}
