package rebalance

import (
	"math"
	"time"
)

// Units of the cost of a move: what is as bad as the restart of an ordinary pod.
const (
	// readinessUnit of not being ready, and restartUnit of lost work, cost 1 each.
	readinessUnit = time.Minute
	restartUnit   = 10 * time.Minute
	// evictionCostUnit of the annotation costs 1.
	evictionCostUnit = 100.0
	// prodPriority doubles the cost, and others add their share of it.
	prodPriority = 10000.0
	// leastCost keeps a move from being free, whatever its eviction cost.
	leastCost = 0.1
)

// cost of moving a pod.
func (p *Pod) cost() float64 {
	restart := 1 + math.Max(0, float64(p.Readiness)/float64(readinessUnit)) + math.Max(0, float64(p.Restart)/float64(restartUnit))
	priority := 1 + math.Min(math.Max(float64(p.Priority)/prodPriority, 0), 1)
	return math.Max(restart*priority+float64(p.EvictionCost)/evictionCostUnit, leastCost)
}

// worth is the share of the benefit that a pod lasts for: 1 for a pod that does not end by itself within the horizon.
func (p *Pod) worth(horizon time.Duration) float64 {
	if p.Remaining == nil || *p.Remaining >= horizon {
		return 1
	}
	return math.Max(0, float64(*p.Remaining)/float64(horizon))
}
