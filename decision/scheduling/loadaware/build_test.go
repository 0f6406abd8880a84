package loadaware

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"koordinator.sh/koord/api/extension"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
)

var now = time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)

func list(pairs ...string) corev1.ResourceList {
	out := corev1.ResourceList{}
	for i := 0; i < len(pairs); i += 2 {
		out[corev1.ResourceName(pairs[i])] = resource.MustParse(pairs[i+1])
	}
	return out
}

func usage(pairs ...string) slov1alpha1.ResourceMap {
	return slov1alpha1.ResourceMap{ResourceList: list(pairs...)}
}

// newNode has 96 CPU and 512Gi.
func newNode() *corev1.Node {
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: "node-1"},
		Status:     corev1.NodeStatus{Allocatable: list("cpu", "96", "memory", "512Gi")},
	}
}

// newMetric was reported ten seconds ago.
func newMetric(pairs ...string) *slov1alpha1.NodeMetric {
	return &slov1alpha1.NodeMetric{
		ObjectMeta: metav1.ObjectMeta{Name: "node-1"},
		Status: slov1alpha1.NodeMetricStatus{
			UpdateTime: &metav1.Time{Time: now.Add(-10 * time.Second)},
			NodeMetric: &slov1alpha1.NodeMetricInfo{NodeUsage: usage(pairs...)},
		},
	}
}

func newPod(name string, priority int32, requests, limits corev1.ResourceList) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name},
		Spec: corev1.PodSpec{Priority: &priority, Containers: []corev1.Container{{
			Name: "main", Resources: corev1.ResourceRequirements{Requests: requests, Limits: limits},
		}}},
	}
}

func reported(name string, class extension.PriorityClass, pairs ...string) *slov1alpha1.PodMetricInfo {
	return &slov1alpha1.PodMetricInfo{Namespace: "default", Name: name, Priority: class, PodUsage: usage(pairs...)}
}

// input digests and estimates for one Filter call.
func input(args *Args, pod *corev1.Pod, in NodeInput) Input {
	policy := NewPolicy(args)
	return Input{Policy: policy, Node: policy.Observe(in), Pod: policy.Estimate(pod), Now: now}
}
