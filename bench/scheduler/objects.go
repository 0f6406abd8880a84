package main

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"koordinator.sh/koord/api/extension"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	"koordinator.sh/koord/bench/controlplane"
)

const (
	namespace     = "default"
	workloadLabel = "bench.koordinator.sh/workload"
)

// newNode has 32 CPUs and 128 GiB, half of it offered to batch as well.
func newNode(i int) *corev1.Node {
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("node-%04d", i), Labels: map[string]string{
		corev1.LabelTopologyZone: fmt.Sprintf("zone-%d", i%3), corev1.LabelHostname: fmt.Sprintf("node-%04d", i),
	}}}
	node.Status.Capacity = controlplane.Quantities(map[corev1.ResourceName]string{
		"cpu": "32", "memory": "128Gi", "pods": "110", extension.BatchCPU: "16000", extension.BatchMemory: "64Gi",
	})
	node.Status.Allocatable = node.Status.Capacity
	node.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue, Reason: "Bench"}}
	return node
}

// newNodeMetric reports a use of 10 to 40 % that differs from node to node, some time ago.
func newNodeMetric(node string, i int, age time.Duration) *slov1alpha1.NodeMetric {
	used := controlplane.Quantities(map[corev1.ResourceName]string{"cpu": fmt.Sprintf("%dm", 3200+(i*7919)%9600), "memory": fmt.Sprintf("%dMi", 13000+(i*104729)%39000)})
	metric := &slov1alpha1.NodeMetric{ObjectMeta: metav1.ObjectMeta{Name: node}}
	metric.Status.UpdateTime = &metav1.Time{Time: time.Now().Add(-age)} // no agent refreshes it; a run takes less than the 180 s after which it is old
	metric.Status.NodeMetric = &slov1alpha1.NodeMetricInfo{NodeUsage: slov1alpha1.ResourceMap{ResourceList: used}}
	return metric
}

// newPod requests half a CPU and 1 GiB.
func newPod(name, profile string) *corev1.Pod {
	requirements := corev1.ResourceRequirements{Requests: controlplane.Quantities(map[corev1.ResourceName]string{"cpu": "500m", "memory": "1Gi"})}
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec: corev1.PodSpec{
			SchedulerName: profile,
			Containers:    []corev1.Container{{Name: "main", Image: "none", Resources: requirements}},
		},
	}
}
