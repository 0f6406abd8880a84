package kubectlplugin

import (
	"strings"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
)

type recommendation = diagnosticsv1alpha1.RecommendationExplanation

// recommendationOrders are the words of --sort-by for Recommendations. Savings come largest first, a missing one last; age oldest
// first.
var recommendationOrders = []order[recommendation]{
	{"name", func(a, b *recommendation) int { return strings.Compare(a.Name, b.Name) }},
	{"target", func(a, b *recommendation) int { return strings.Compare(a.Target, b.Target) }},
	{"cpu-savings", func(a, b *recommendation) int { return largestFirst(saved(a, cpuSavings), saved(b, cpuSavings)) }},
	{"memory-savings", func(a, b *recommendation) int { return largestFirst(saved(a, memorySavings), saved(b, memorySavings)) }},
	{"age", func(a, b *recommendation) int { return oldestFirst(a.UpdatedAt, b.UpdatedAt) }},
}

func cpuSavings(c *diagnosticsv1alpha1.ContainerRecommendation) *int64    { return c.CPU.Savings }
func memorySavings(c *diagnosticsv1alpha1.ContainerRecommendation) *int64 { return c.Memory.Savings }

// saved by all containers; nil when that is known of none.
func saved(r *recommendation, of func(*diagnosticsv1alpha1.ContainerRecommendation) *int64) *int64 {
	var sum *int64
	for i := range r.Containers {
		if each := of(&r.Containers[i]); each != nil {
			if sum == nil {
				sum = new(int64(0))
			}
			*sum += *each
		}
	}
	return sum
}
