package metrics

import (
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// Aggregate is the statistics of one window.
type Aggregate struct {
	// Duration of the window.
	Duration time.Duration
	// Average is the mean; the others are nearest-rank percentiles, CPU and memory each on its own.
	Average, P50, P90, P95, P99 Usage
}

// Usage returns the node's average over the policy's aggregate window that ends at a moment.
func (n *Node) Usage(at time.Time) (Usage, bool) { return n.node.Average(at, n.policy.Aggregate) }

// SystemUsage returns the average of what runs outside of pods.
func (n *Node) SystemUsage(at time.Time) (Usage, bool) {
	return n.system.Average(at, n.policy.Aggregate)
}

// PodUsage returns a pod's average over the part of the aggregate window in which it ran.
func (n *Node) PodUsage(uid types.UID, at time.Time) (Usage, bool) {
	s, known := n.pods[uid]
	if !known {
		return Usage{}, false
	}
	return s.window.Average(at, n.policy.Aggregate)
}

// PodPercentile returns a pod's percentile over some time, of which only the aggregate window is known.
func (n *Node) PodPercentile(uid types.UID, at time.Time, over time.Duration, fraction float64) (Usage, bool) {
	s, known := n.pods[uid]
	if !known {
		return Usage{}, false
	}
	return first(s.window.Percentiles(at, over, fraction))
}

// SystemPercentile returns a percentile of what runs outside of pods.
func (n *Node) SystemPercentile(at time.Time, over time.Duration, fraction float64) (Usage, bool) {
	return first(n.system.Percentiles(at, over, fraction))
}

// Aggregates returns the statistics of the node for each of the policy's durations whose samples span at least half
// of it; the others are left out, because a percentile of a few minutes is not one of half an hour.
func (n *Node) Aggregates(at time.Time) []Aggregate { return n.aggregates(n.node, at) }

// SystemAggregates is Aggregates for what runs outside of pods.
func (n *Node) SystemAggregates(at time.Time) []Aggregate { return n.aggregates(n.system, at) }

func (n *Node) aggregates(window *Window, at time.Time) []Aggregate {
	var out []Aggregate
	for _, duration := range n.policy.Durations {
		if !window.Covers(at, duration) {
			continue
		}
		mean, _ := window.Average(at, duration)
		p := window.Percentiles(at, duration, 0.50, 0.90, 0.95, 0.99)
		out = append(out, Aggregate{Duration: duration, Average: mean, P50: p[0], P90: p[1], P95: p[2], P99: p[3]})
	}
	return out
}

func first(usages []Usage) (Usage, bool) {
	if len(usages) == 0 {
		return Usage{}, false
	}
	return usages[0], true
}
