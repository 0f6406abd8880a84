package prediction

import (
	"time"

	"koordinator.sh/koord/agent/metrics"
)

// Learn trains with what was measured in the last TrainInterval, the TrainFraction percentile of each. Nothing is learned
// where nothing was measured.
func (n *Node) Learn(at time.Time, measured *metrics.Node, pods []Pod) {
	system, sampled := measured.SystemPercentile(at, TrainInterval, TrainFraction)
	if !sampled {
		return
	}
	samples := make([]Sample, 0, len(pods))
	for i := range pods {
		if usage, sampled := measured.PodPercentile(pods[i].UID, at, TrainInterval, TrainFraction); sampled {
			samples = append(samples, Sample{UID: pods[i].UID, Band: pods[i].Band, Usage: usage})
		}
	}
	n.Train(at, TrainInterval, samples, system)
}
