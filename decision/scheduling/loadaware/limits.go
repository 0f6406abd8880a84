package loadaware

import corev1 "k8s.io/api/core/v1"

// Limits are the thresholds in percent that pods other than prod ones meet on a node: those of percentiles where they are set, else those
// of the usage. A resource without a threshold is left out.
func (p *Policy) Limits(node *corev1.Node) map[corev1.ResourceName]int64 {
	thresholds := p.thresholdsOf(node)
	_, vector := thresholds.profileFor(false)
	limits := map[corev1.ResourceName]int64{}
	for i, percent := range vector {
		if percent > 0 {
			limits[p.resources[i]] = percent
		}
	}
	return limits
}
