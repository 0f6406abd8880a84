package rebalance

import (
	"testing"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
)

func TestScalesDown(t *testing.T) {
	active := autoscalingv2.HorizontalPodAutoscalerCondition{Type: autoscalingv2.ScalingActive, Status: corev1.ConditionTrue, Reason: "ValidMetricFound"}
	blind := autoscalingv2.HorizontalPodAutoscalerCondition{Type: autoscalingv2.ScalingActive, Status: corev1.ConditionFalse, Reason: "FailedGetResourceMetric"}
	limited := func(reason string) autoscalingv2.HorizontalPodAutoscalerCondition {
		return autoscalingv2.HorizontalPodAutoscalerCondition{Type: autoscalingv2.ScalingLimited, Status: corev1.ConditionTrue, Reason: reason}
	}
	tests := map[string]struct {
		current, desired int32
		conditions       []autoscalingv2.HorizontalPodAutoscalerCondition
		want             bool
	}{
		"it wants as many as there are":              {6, 6, []autoscalingv2.HorizontalPodAutoscalerCondition{active}, false},
		"it wants more":                              {6, 8, []autoscalingv2.HorizontalPodAutoscalerCondition{active}, false},
		"it wants fewer":                             {6, 4, []autoscalingv2.HorizontalPodAutoscalerCondition{active}, true},
		"it waits for its next step":                 {6, 6, []autoscalingv2.HorizontalPodAutoscalerCondition{active, limited("ScaleDownLimit")}, true},
		"it is at its minimum":                       {6, 6, []autoscalingv2.HorizontalPodAutoscalerCondition{active, limited("TooFewReplicas")}, false},
		"it is held back from more":                  {6, 6, []autoscalingv2.HorizontalPodAutoscalerCondition{active, limited("ScaleUpLimit")}, false},
		"it never knew a load":                       {6, 0, []autoscalingv2.HorizontalPodAutoscalerCondition{blind}, false},
		"it was between steps when the metrics went": {6, 6, []autoscalingv2.HorizontalPodAutoscalerCondition{blind, limited("ScaleDownLimit")}, false},
		"it is new":                                  {0, 0, nil, false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			h := &autoscalingv2.HorizontalPodAutoscaler{}
			h.Status.CurrentReplicas, h.Status.DesiredReplicas, h.Status.Conditions = test.current, test.desired, test.conditions
			if got := ScalesDown(h); got != test.want {
				t.Errorf("ScalesDown() = %t, want %t", got, test.want)
			}
		})
	}
}
