package service

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"koordinator.sh/koord/api/extension"
)

func TestPodsOfAnEngineMustBeBatchPods(t *testing.T) {
	batch := func(change func(*corev1.Pod)) corev1.Pod {
		pod := corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: "exec-1", Labels: map[string]string{extension.LabelPodQoS: string(extension.QoSBE)}},
			Spec: corev1.PodSpec{NodeName: "node-1", SchedulerName: "koord-scheduler", Containers: []corev1.Container{{
				Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{extension.BatchCPU: resource.MustParse("50")}},
			}}},
		}
		change(&pod)
		return pod
	}
	tests := map[string]struct {
		change func(*corev1.Pod)
		want   bool
	}{
		"a batch pod":          {func(*corev1.Pod) {}, true},
		"on another node":      {func(p *corev1.Pod) { p.Spec.NodeName = "node-2" }, false},
		"by another scheduler": {func(p *corev1.Pod) { p.Spec.SchedulerName = "default-scheduler" }, false},
		"of no class":          {func(p *corev1.Pod) { p.Labels = nil }, false},
		"that requests cpu": {func(p *corev1.Pod) {
			p.Spec.Containers[0].Resources.Requests[corev1.ResourceCPU] = resource.MustParse("1")
		}, false},
		"that requests nothing": {func(p *corev1.Pod) { p.Spec.Containers[0].Resources.Requests = nil }, false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if err := CheckBatch("node-1", []corev1.Pod{batch(func(*corev1.Pod) {}), batch(tc.change)}); (err == nil) != tc.want {
				t.Errorf("CheckBatch = %v; want a batch pod: %t", err, tc.want)
			}
		})
	}
}
