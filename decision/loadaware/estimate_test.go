package loadaware

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"koordinator.sh/koord/api/extension"
)

func TestEstimatePod(t *testing.T) {
	custom := func(pod *corev1.Pod) *corev1.Pod {
		pod.Annotations = map[string]string{extension.AnnotationEstimatedScalingFactors: `{"cpu":100}`}
		return pod
	}
	tests := []struct {
		name string
		args *Args
		pod  *corev1.Pod
		want corev1.ResourceList
	}{
		{
			name: "a pod that requests nothing still uses something",
			pod:  newPod("empty", 9500, nil, nil),
			want: list("cpu", "250m", "memory", "200Mi"),
		},
		{
			name: "the limit counts when it is larger than the request",
			pod:  newPod("burst", 9500, list("cpu", "4", "memory", "8Gi"), list("cpu", "8", "memory", "8Gi")),
			want: list("cpu", "6800m", "memory", "6012954214"),
		},
		{
			name: "nothing is expected beyond the limit",
			pod:  newPod("odd", 9500, list("cpu", "8", "memory", "8Gi"), list("cpu", "4", "memory", "8Gi")),
			want: list("cpu", "4", "memory", "6012954214"),
		},
		{
			name: "a request alone is scaled",
			pod:  newPod("plain", 9500, list("cpu", "4", "memory", "8Gi"), nil),
			want: list("cpu", "3400m", "memory", "6012954214"),
		},
		{
			name: "batch resources count as plain ones",
			pod: newPod("batch", 5500, list("kubernetes.io/batch-cpu", "4000", "kubernetes.io/batch-memory", "8Gi"),
				list("kubernetes.io/batch-cpu", "4000", "kubernetes.io/batch-memory", "8Gi")),
			want: list("cpu", "3400m", "memory", "6012954214"),
		},
		{
			name: "other factors may be configured",
			args: &Args{EstimatedScalingFactors: map[corev1.ResourceName]int64{"cpu": 80, "memory": 80}},
			pod: newPod("batch", 5500, list("kubernetes.io/batch-cpu", "4000", "kubernetes.io/batch-memory", "8Gi"),
				list("kubernetes.io/batch-cpu", "4000", "kubernetes.io/batch-memory", "8Gi")),
			want: list("cpu", "3200m", "memory", "6871947674"),
		},
		{
			name: "a mid pod that requests nothing uses nothing",
			pod:  newPod("mid", 7500, nil, nil),
			want: corev1.ResourceList{},
		},
		{
			name: "the pod's own factor counts where that is allowed",
			args: &Args{AllowCustomizeEstimation: true},
			pod:  custom(newPod("custom", 9500, list("cpu", "4", "memory", "8Gi"), nil)),
			want: list("cpu", "4", "memory", "6012954214"),
		},
		{
			name: "the pod's own factor does not count by default",
			pod:  custom(newPod("custom", 9500, list("cpu", "4", "memory", "8Gi"), nil)),
			want: list("cpu", "3400m", "memory", "6012954214"),
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, EstimatePod(test.pod, test.args)); diff != "" {
				t.Errorf("estimate (-want +got):\n%s", diff)
			}
		})
	}
}
