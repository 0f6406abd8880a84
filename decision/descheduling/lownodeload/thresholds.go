package lownodeload

import "math"

// setLimits computes the thresholds of the nodes of a pool, from their mean usage where they are distances from it.
func setLimits(pool *pool, nodes []*nodeState) {
	low, high := pool.low.node, pool.high.node
	prodLow, prodHigh := pool.low.prod, pool.high.prod
	if pool.deviation {
		low, high = around(mean(nodes, len(pool.resources), (*nodeState).nodeUsage), low, high)
		if pool.prod {
			prodLow, prodHigh = around(mean(nodes, len(pool.resources), (*nodeState).podUsage), prodLow, prodHigh)
		}
	}
	for _, node := range nodes {
		node.node = node.limits(low, high)
		if pool.prod {
			node.prod = node.limits(prodLow, prodHigh)
		}
	}
}

func (s *nodeState) nodeUsage() []int64 { return s.usage }
func (s *nodeState) podUsage() []int64  { return s.prodUsage }

// mean is the mean usage of nodes in percent, of those that have the resource and say what they use.
func mean(nodes []*nodeState, resources int, usage func(*nodeState) []int64) []float64 {
	sums, counts := make([]float64, resources), make([]float64, resources)
	for _, node := range nodes {
		if node.problem != "" {
			continue
		}
		for i := range sums {
			if node.present[i] {
				sums[i] += node.percentOf(usage(node), i)
				counts[i]++
			}
		}
	}
	for i := range sums {
		sums[i] /= math.Max(counts[i], 1)
	}
	return sums
}

// around are the thresholds at a distance from the mean.
func around(mean, below, above []float64) (low, high []float64) {
	low, high = make([]float64, len(mean)), make([]float64, len(mean))
	for i := range mean {
		low[i], high[i] = unset, unset
		if below[i] != unset {
			low[i], high[i] = percentage(mean[i]-below[i]), percentage(mean[i]+above[i])
		}
	}
	return low, high
}

func percentage(value float64) float64 { return math.Min(math.Max(value, 0), 100) }

// limits are percentages of what the node has; a threshold that is not set is all of it.
func (s *nodeState) limits(low, high []float64) limits {
	out := limits{low: make([]int64, len(low)), high: make([]int64, len(high)), lowPercent: low, highPercent: high}
	for i := range low {
		out.low[i], out.high[i] = share(s.capacity[i], low[i]), share(s.capacity[i], high[i])
	}
	return out
}

// share is a percentage of an amount, rounded down.
func share(amount int64, percent float64) int64 {
	if percent == unset {
		return amount
	}
	if part := percent * 0.01 * float64(amount); part < float64(amount) {
		return int64(part)
	}
	return amount
}
