package loadaware

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"koordinator.sh/koord/api/extension"
)

func TestEstimatePod(t *testing.T) {
	custom := func(pod *corev1.Pod) *corev1.Pod {
		pod.Annotations = map[string]string{extension.AnnotationEstimatedScalingFactors: `{"cpu":100}`}
		return pod
	}
	annotated := func(factors string) *corev1.Pod {
		pod := newPod("custom", 9500, list("cpu", "4", "memory", "8Gi"), nil)
		pod.Annotations = map[string]string{extension.AnnotationEstimatedScalingFactors: factors}
		return pod
	}
	withSidecar := newPod("sidecar", 9500, list("cpu", "1"), list("cpu", "8"))
	withSidecar.Spec.Containers = append(withSidecar.Spec.Containers, corev1.Container{
		Name: "proxy", Resources: corev1.ResourceRequirements{Requests: list("cpu", "500m")},
	})
	narrow := withSidecar.DeepCopy()
	narrow.Spec.Containers[0].Resources.Limits = list("cpu", "1")
	narrow.Spec.Containers[1].Resources.Requests = list("cpu", "7")
	const gpu = corev1.ResourceName("nvidia.com/gpu")
	withGPU := newPod("gpu", 9500, list("cpu", "4", "memory", "8Gi", "nvidia.com/gpu", "4"), list("nvidia.com/gpu", "4"))
	custom100 := &Args{AllowCustomizeEstimation: true}
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
			name: "an empty batch pod is estimated like any other",
			pod:  newPod("batch", 5500, nil, nil),
			want: list("cpu", "250m", "memory", "200Mi"),
		},
		{
			name: "mid resources count as plain ones",
			pod:  newPod("mid", 7500, list("kubernetes.io/mid-cpu", "4000", "kubernetes.io/mid-memory", "8Gi"), nil),
			want: list("cpu", "3400m", "memory", "6012954214"),
		},
		{
			name: "a limit counts although a sidecar has none",
			pod:  withSidecar, want: list("cpu", "6800m", "memory", "200Mi"),
		},
		{
			name: "a limit does not bound a sidecar without one",
			pod:  narrow, want: list("cpu", "6800m", "memory", "200Mi"),
		},
		{
			name: "other resources are estimated when they have a factor",
			args: &Args{SupportedResources: []corev1.ResourceName{gpu}, EstimatedScalingFactors: map[corev1.ResourceName]int64{gpu: 50}},
			pod:  withGPU, want: list("cpu", "3400m", "memory", "6012954214", "nvidia.com/gpu", "2"),
		},
		{
			name: "other resources are not estimated without a factor",
			args: &Args{SupportedResources: []corev1.ResourceName{gpu}},
			pod:  withGPU, want: list("cpu", "3400m", "memory", "6012954214"),
		},
		{
			name: "the pod's own factor may be of another resource",
			args: &Args{AllowCustomizeEstimation: true, SupportedResources: []corev1.ResourceName{gpu}},
			pod: func() *corev1.Pod {
				pod := withGPU.DeepCopy()
				pod.Annotations = map[string]string{extension.AnnotationEstimatedScalingFactors: `{"nvidia.com/gpu":25}`}
				return pod
			}(),
			want: list("cpu", "3400m", "memory", "6012954214", "nvidia.com/gpu", "1"),
		},
		{name: "the pod's own factor may be beyond 100", args: custom100, pod: annotated(`{"cpu":150}`), want: list("cpu", "6", "memory", "6012954214")},
		{name: "the pod's own factor may be 0", args: custom100, pod: annotated(`{"cpu":0}`), want: list("memory", "6012954214")},
		{name: "an annotation that cannot be read changes nothing", args: custom100, pod: annotated(`{"cpu":"much"}`), want: list("cpu", "3400m", "memory", "6012954214")},
		{
			name: "a factor that nobody can mean stays within bounds", args: custom100, pod: annotated(`{"cpu":9223372036854775807}`),
			want: corev1.ResourceList{"cpu": *resource.NewMilliQuantity(amountLimit, resource.DecimalSI), "memory": resource.MustParse("6012954214")},
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

func TestDaemonSetPodsAreKnownByTheirOwner(t *testing.T) {
	owned := func(kind string, controller *bool) *corev1.Pod {
		pod := newPod("p", 9500, nil, nil)
		pod.OwnerReferences = []metav1.OwnerReference{{Kind: kind, Name: "owner", Controller: controller}}
		return pod
	}
	for name, test := range map[string]struct {
		pod  *corev1.Pod
		want bool
	}{
		"a pod of a DaemonSet": {owned("DaemonSet", new(true)), true}, "one whose owner is not marked as its controller": {owned("DaemonSet", nil), true},
		"a pod of a ReplicaSet": {owned("ReplicaSet", new(true)), false}, "a pod of nobody": {newPod("p", 9500, nil, nil), false},
	} {
		if got := NewPolicy(nil).Estimate(test.pod).DaemonSet; got != test.want {
			t.Errorf("%s: %v, want %v", name, got, test.want)
		}
	}
}

// TestEstimateUntil has pods that were scheduled a minute ago.
func TestEstimateUntil(t *testing.T) {
	condition := func(kind corev1.PodConditionType, status corev1.ConditionStatus, ago time.Duration) corev1.PodCondition {
		return corev1.PodCondition{Type: kind, Status: status, LastTransitionTime: metav1.Time{Time: now.Add(-ago)}}
	}
	scheduled := condition(corev1.PodScheduled, corev1.ConditionTrue, time.Minute)
	initialized := condition(corev1.PodInitialized, corev1.ConditionTrue, 30*time.Second)
	undated := corev1.PodCondition{Type: corev1.PodInitialized, Status: corev1.ConditionTrue}
	const afterScheduled, afterInitialized = extension.AnnotationEstimatedSecondsAfterPodScheduled, extension.AnnotationEstimatedSecondsAfterInitialized
	both := Args{EstimatedSecondsAfterPodScheduled: new(int64(180)), EstimatedSecondsAfterInitialized: new(int64(10)), AllowCustomizeEstimation: true}
	tests := []struct {
		name        string
		args        Args
		annotations map[string]string
		conditions  []corev1.PodCondition
		want        time.Time
	}{
		{name: "no time is configured", conditions: []corev1.PodCondition{scheduled, initialized}},
		{name: "a time of 0 is none", args: Args{EstimatedSecondsAfterPodScheduled: new(int64(0))}, conditions: []corev1.PodCondition{scheduled}},
		{name: "after scheduling", args: Args{EstimatedSecondsAfterPodScheduled: new(int64(180))}, conditions: []corev1.PodCondition{scheduled}, want: now.Add(2 * time.Minute)},
		{name: "after the reservation, when the pod does not say", args: Args{EstimatedSecondsAfterPodScheduled: new(int64(180))}, want: now.Add(130 * time.Second)},
		{name: "the end of init containers takes the place of scheduling", args: both, conditions: []corev1.PodCondition{scheduled, initialized}, want: now.Add(-20 * time.Second)},
		{name: "init containers that run on leave it at scheduling", args: both,
			conditions: []corev1.PodCondition{scheduled, condition(corev1.PodInitialized, corev1.ConditionFalse, time.Minute)}, want: now.Add(2 * time.Minute)},
		{name: "an end without a date leaves it at scheduling", args: both, conditions: []corev1.PodCondition{scheduled, undated}, want: now.Add(2 * time.Minute)},
		{name: "init containers that run on, alone", args: Args{EstimatedSecondsAfterInitialized: new(int64(180))}, conditions: []corev1.PodCondition{scheduled}},
		{name: "the pod's own time after scheduling", args: Args{AllowCustomizeEstimation: true}, annotations: map[string]string{afterScheduled: "180"},
			conditions: []corev1.PodCondition{scheduled}, want: now.Add(2 * time.Minute)},
		{name: "the pod's own time after its init containers", args: both, annotations: map[string]string{afterInitialized: "90"},
			conditions: []corev1.PodCondition{scheduled, initialized}, want: now.Add(time.Minute)},
		{name: "the pod's own 0 switches it off", args: both, annotations: map[string]string{afterScheduled: "0", afterInitialized: "0"}, conditions: []corev1.PodCondition{scheduled, initialized}},
		{name: "a negative time of the pod's own does not count", args: both, annotations: map[string]string{afterInitialized: "-5"},
			conditions: []corev1.PodCondition{scheduled, initialized}, want: now.Add(-20 * time.Second)},
		{name: "the pod's own time needs permission", annotations: map[string]string{afterScheduled: "180"}, conditions: []corev1.PodCondition{scheduled}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			pod := newPod("p", 9500, nil, nil)
			pod.Annotations, pod.Status.Conditions = test.annotations, test.conditions
			got := NewPolicy(&test.args).estimateUntil(AssignedPod{Pod: pod, AssignedAt: now.Add(-50 * time.Second)})
			if !got.Equal(test.want) {
				t.Errorf("until %s, want %s", got, test.want)
			}
		})
	}
}
