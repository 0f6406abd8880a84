package rebalance

import (
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
)

// scaleDownLimited is the reason for which a HorizontalPodAutoscaler removes fewer pods than it would: its behavior says how many at a time.
const scaleDownLimited = "ScaleDownLimit"

// ScalesDown says whether a HorizontalPodAutoscaler is removing pods of its target: it wants fewer than there are, or removes them step by
// step and has not come to the end. One that waits until a low load has lasted, or that knows no load, removes none.
func ScalesDown(h *autoscalingv2.HorizontalPodAutoscaler) bool {
	active, limited := false, false
	for _, condition := range h.Status.Conditions {
		holds := condition.Status == corev1.ConditionTrue
		switch condition.Type {
		case autoscalingv2.ScalingActive:
			active = holds
		case autoscalingv2.ScalingLimited:
			limited = holds && condition.Reason == scaleDownLimited
		case autoscalingv2.AbleToScale:
		}
	}
	return active && (limited || h.Status.DesiredReplicas < h.Status.CurrentReplicas)
}
