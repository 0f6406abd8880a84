package configuration

import (
	"fmt"

	"koordinator.sh/koord/api/finding"
)

// leastEviction is the lowest threshold of eviction that is taken for meant, in percent: what a node without pods uses is above many a
// lower one.
const leastEviction = 10

// evictionThresholds are the thresholds of use and of requests above which pods are evicted, and the setting without which none are.
var evictionThresholds = []struct{ path, needs string }{
	{"memoryEvictThresholdPercent", "enable"},
	{"cpuEvictThresholdPercent", "evictEnabledPriorityThreshold"},
	{"memoryAllocatableEvictThresholdPercent", "allocatableEvictPriorityThreshold"},
	{"cpuAllocatableEvictThresholdPercent", "allocatableEvictPriorityThreshold"},
}

// earlyEvictions are thresholds of eviction so low that nodes are above them at all times.
func earlyEvictions(s *scope) []conflict {
	var out []conflict
	for _, threshold := range evictionThresholds {
		at, set := s.number(thresholdKey, threshold.path)
		if !set || at >= leastEviction || s.text(thresholdKey, threshold.needs) == "" {
			continue
		}
		out = append(out, conflict{
			code: finding.EvictionTooEarly, about: ref{thresholdKey, threshold.path}, with: refsOf(thresholdKey, threshold.needs),
			message: fmt.Sprintf("%s (%s) is below %d%%, so that pods are evicted from every node", threshold.path, number(at), leastEviction),
		})
	}
	return out
}
