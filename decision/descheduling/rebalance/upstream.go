package rebalance

import (
	corev1 "k8s.io/api/core/v1"

	"koordinator.sh/koord/decision/descheduling/lownodeload"
)

// LowNodeLoad returns the arguments by which the mode Upstream decides: those of LowNodeLoad with the thresholds of this plugin, and all
// defaults.
func (a *Args) LowNodeLoad() *lownodeload.Args {
	out := &lownodeload.Args{
		DryRun: &a.DryRun, Paused: &a.Paused, NodeSelector: a.NodeSelector, NodeMetricExpirationSeconds: a.NodeMetricExpirationSeconds,
		PoolSettings: lownodeload.PoolSettings{
			LowThresholds: upstreamThresholds(a.LowThresholds), HighThresholds: upstreamThresholds(a.HighThresholds), ResourceWeights: a.ResourceWeights,
		},
	}
	lownodeload.SetDefaults(out)
	return out
}

func upstreamThresholds(from map[corev1.ResourceName]int64) lownodeload.Thresholds {
	out := make(lownodeload.Thresholds, len(from))
	for name, percent := range from {
		out[name] = float64(percent)
	}
	return out
}
