package podresize

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
)

func TestContainersThatRunAsLongAsThePod(t *testing.T) {
	pod := &corev1.Pod{Spec: corev1.PodSpec{
		InitContainers: []corev1.Container{
			{Name: "init"}, {Name: "sidecar", RestartPolicy: new(corev1.ContainerRestartPolicyAlways)}, {Name: "never", RestartPolicy: new(corev1.ContainerRestartPolicyNever)},
		},
		Containers: []corev1.Container{{Name: "main"}, {Name: "second"}},
	}}
	var names []string
	for _, c := range Containers(pod) {
		names = append(names, c.Name)
	}
	if diff := cmp.Diff([]string{"sidecar", "main", "second"}, names); diff != "" {
		t.Errorf("containers (-want +got):\n%s", diff)
	}
	if got := Sidecars(pod); got != 1 {
		t.Errorf("%d sidecars, want 1", got)
	}
}

func TestUnderWay(t *testing.T) {
	for _, test := range []struct {
		name       string
		conditions []corev1.PodCondition
		want       bool
	}{
		{name: "a pod without conditions"},
		{name: "a pod that is ready", conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}},
		{name: "the kubelet has deferred it", conditions: []corev1.PodCondition{{Type: corev1.PodResizePending, Status: corev1.ConditionTrue}}, want: true},
		{name: "the kubelet is at it", conditions: []corev1.PodCondition{{Type: corev1.PodResizeInProgress, Status: corev1.ConditionTrue}}, want: true},
		{name: "it has ended", conditions: []corev1.PodCondition{{Type: corev1.PodResizeInProgress, Status: corev1.ConditionFalse}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := UnderWay(&corev1.Pod{Status: corev1.PodStatus{Conditions: test.conditions}}); got != test.want {
				t.Errorf("under way: %t, want %t", got, test.want)
			}
		})
	}
}

func TestSupported(t *testing.T) {
	running := corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}
	for _, test := range []struct {
		name     string
		statuses []corev1.ContainerStatus
		want     bool
	}{
		{name: "a pod whose containers have not started", want: true},
		{name: "a kubelet that reports resources", statuses: []corev1.ContainerStatus{{State: running, Resources: &corev1.ResourceRequirements{}}}, want: true},
		{name: "a kubelet that does not", statuses: []corev1.ContainerStatus{{State: running}}},
		{name: "containers that wait are not asked", statuses: []corev1.ContainerStatus{{}, {State: running, Resources: &corev1.ResourceRequirements{}}}, want: true},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := Supported(&corev1.Pod{Status: corev1.PodStatus{ContainerStatuses: test.statuses}}); got != test.want {
				t.Errorf("supported: %t, want %t", got, test.want)
			}
		})
	}
}

func TestRestarts(t *testing.T) {
	c := &corev1.Container{ResizePolicy: []corev1.ContainerResizePolicy{
		{ResourceName: corev1.ResourceCPU, RestartPolicy: corev1.NotRequired}, {ResourceName: corev1.ResourceMemory, RestartPolicy: corev1.RestartContainer},
	}}
	if Restarts(c, corev1.ResourceCPU) || !Restarts(c, corev1.ResourceMemory) || Restarts(&corev1.Container{}, corev1.ResourceMemory) {
		t.Error("a container restarts for the resources alone whose policy says so")
	}
}
