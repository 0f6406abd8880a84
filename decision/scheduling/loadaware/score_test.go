package loadaware

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"koordinator.sh/koord/api/extension"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
)

func TestScore(t *testing.T) {
	half := newMetric("cpu", "48", "memory", "128Gi")
	prod := newMetric("cpu", "48", "memory", "128Gi")
	prod.Status.PodsMetric = []*slov1alpha1.PodMetricInfo{reported("web", extension.PriorityProd, "cpu", "24", "memory", "128Gi")}
	aggregated := newMetric("cpu", "48", "memory", "1Gi")
	aggregated.Status.NodeMetric.AggregatedNodeUsages = []slov1alpha1.AggregatedUsage{
		{Duration: metav1.Duration{Duration: 5 * time.Minute}, Usage: map[extension.AggregationType]slov1alpha1.ResourceMap{extension.P90: usage("cpu", "24")}},
		{Duration: metav1.Duration{Duration: 30 * time.Minute}, Usage: map[extension.AggregationType]slov1alpha1.ResourceMap{extension.P90: usage("cpu", "72")}},
	}
	old := newMetric("cpu", "1")
	old.Status.UpdateTime.Time = now.Add(-time.Hour)
	idle := newPod("idle", 7500, nil, nil) // a mid pod that requests nothing is estimated at nothing
	prodPod := newPod("prod", 9500, list("cpu", "1m", "memory", "1"), nil)
	tests := []struct {
		name string
		args *Args
		pod  *corev1.Pod
		in   NodeInput
		want int64
	}{
		{name: "the free shares of cpu and memory are averaged", pod: idle, in: NodeInput{Metric: half}, want: (50 + 75) / 2},
		{name: "the pod's estimate counts", pod: newPod("p", 9500, list("cpu", "24", "memory", "1"), nil), in: NodeInput{Metric: half}, want: (28 + 74) / 2},
		{
			name: "weights count", pod: idle, in: NodeInput{Metric: half},
			args: &Args{ResourceWeights: map[corev1.ResourceName]int64{"cpu": 3, "memory": 1}}, want: (3*50 + 75) / 4,
		},
		{
			name: "the scarcest resource may weigh more", pod: idle, in: NodeInput{Metric: half},
			args: &Args{DominantResourceWeight: 2, ResourceWeights: map[corev1.ResourceName]int64{"cpu": 1, "memory": 1}}, want: (50 + 75 + 2*50) / 4,
		},
		{name: "the scarcest resource may be all that counts", pod: idle, in: NodeInput{Metric: half}, args: &Args{DominantResourceWeight: 1}, want: 50},
		{
			name: "the scarcest resource need not be weighted", pod: newPod("p", 9500, list("cpu", "1m", "memory", "1"), nil), in: NodeInput{Metric: half},
			args: &Args{DominantResourceWeight: 1, ResourceWeights: map[corev1.ResourceName]int64{"memory": 1}}, want: (74 + 49) / 2,
		},
		{
			name: "a resource that the node does not have is not its scarcest", pod: idle, in: NodeInput{Metric: half},
			args: &Args{DominantResourceWeight: 1, SupportedResources: []corev1.ResourceName{"nvidia.com/gpu"}}, want: 50,
		},
		{
			name: "a weighted resource that the node does not have is", pod: idle, in: NodeInput{Metric: half},
			args: &Args{
				DominantResourceWeight: 1, ResourceWeights: map[corev1.ResourceName]int64{"cpu": 1, "nvidia.com/gpu": 1},
				EstimatedScalingFactors: map[corev1.ResourceName]int64{"nvidia.com/gpu": 100},
			}, want: (50 + 0 + 0) / 3,
		},
		{
			name: "a percentile may be scored", pod: idle, in: NodeInput{Metric: aggregated},
			args: &Args{Aggregated: &AggregatedArgs{ScoreAggregationType: "p90"}}, want: (25 + 100) / 2,
		},
		{
			name: "the percentile of one window may be", pod: idle, in: NodeInput{Metric: aggregated},
			args: &Args{Aggregated: &AggregatedArgs{ScoreAggregationType: "p90", ScoreAggregatedDuration: metav1.Duration{Duration: 5 * time.Minute}}}, want: (75 + 100) / 2,
		},
		{
			name: "prod pods are not scored by percentiles", pod: prodPod, in: NodeInput{Metric: aggregated},
			args: &Args{ScoreAccordingProdUsage: true, Aggregated: &AggregatedArgs{ScoreAggregationType: "p90"}}, want: (99 + 99) / 2,
		},
		{name: "other pods are scored by all usage nevertheless", pod: idle, in: NodeInput{Metric: prod}, args: &Args{ScoreAccordingProdUsage: true}, want: (50 + 75) / 2},
		{
			name: "pods that were assigned a moment ago count", pod: idle, want: (25 + 74) / 2,
			in: NodeInput{Metric: half, Assigned: []AssignedPod{held(newPod("new", 9500, list("cpu", "28236m", "memory", "1"), nil), 0)}},
		},
		{name: "prod pods may be scored by prod usage", pod: prodPod, in: NodeInput{Metric: prod}, args: &Args{ScoreAccordingProdUsage: true}, want: (74 + 74) / 2},
		{name: "a node of unknown load scores nothing", pod: idle, want: 0},
		{name: "a node whose NodeMetric expired scores nothing", pod: idle, in: NodeInput{Metric: old}, want: 0},
		{name: "a node that would be full scores nothing for it", pod: newPod("p", 9500, list("cpu", "96", "memory", "1"), nil), in: NodeInput{Metric: half}, want: (0 + 74) / 2},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if test.in.Node == nil {
				test.in.Node = newNode()
			}
			if got := Score(input(test.args, test.pod, test.in)); got != test.want {
				t.Errorf("score %d, want %d", got, test.want)
			}
		})
	}
}
