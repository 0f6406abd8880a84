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

// namespace of pods and quotas.
const namespace = "default"

// nodeMilliCPU is the size of every node in thousandths of a core.
const nodeMilliCPU = 32000

func amounts(cpuMilli, memoryMiB int) corev1.ResourceList {
	return controlplane.Quantities(map[corev1.ResourceName]string{"cpu": fmt.Sprintf("%dm", cpuMilli), "memory": fmt.Sprintf("%dMi", memoryMiB)})
}

// newNode has 32 CPUs and 128 GiB.
func newNode(i int) *corev1.Node {
	name := fmt.Sprintf("node-%04d", i)
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{
		corev1.LabelTopologyZone: fmt.Sprintf("zone-%d", i%3), corev1.LabelHostname: name,
	}}}
	node.Status.Capacity = amounts(nodeMilliCPU, 128<<10)
	node.Status.Capacity[corev1.ResourcePods] = controlplane.Quantities(map[corev1.ResourceName]string{"pods": "110"})["pods"]
	node.Status.Allocatable = node.Status.Capacity
	node.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue, Reason: "Bench"}}
	return node
}

// newNodeMetric reports a use of 10 to 40 % that differs from node to node, with the percentiles that an agent reports.
func newNodeMetric(node string, i int) *slov1alpha1.NodeMetric {
	cpu, memory := 3200+(i*7919)%9600, 13000+(i*104729)%39000
	metric := &slov1alpha1.NodeMetric{ObjectMeta: metav1.ObjectMeta{Name: node}}
	metric.Status.UpdateTime = &metav1.Time{Time: time.Now()}
	info := &slov1alpha1.NodeMetricInfo{
		NodeUsage:   slov1alpha1.ResourceMap{ResourceList: amounts(cpu, memory)},
		SystemUsage: slov1alpha1.ResourceMap{ResourceList: amounts(500, 2000)},
	}
	for _, window := range []time.Duration{5 * time.Minute, 10 * time.Minute, 30 * time.Minute} {
		used := slov1alpha1.AggregatedUsage{Duration: metav1.Duration{Duration: window}, Usage: map[extension.AggregationType]slov1alpha1.ResourceMap{}}
		for k, statistic := range []extension.AggregationType{extension.AVG, extension.P50, extension.P90, extension.P95, extension.P99} {
			used.Usage[statistic] = slov1alpha1.ResourceMap{ResourceList: amounts(cpu+100*k, memory+200*k)}
		}
		info.AggregatedNodeUsages = append(info.AggregatedNodeUsages, used)
	}
	metric.Status.NodeMetric = info
	return metric
}

// newNodePod is a pod of a node: every third one is a batch pod, the others are services.
func newNodePod(node string, j int) *corev1.Pod {
	pod := newPod(fmt.Sprintf("%s-pod-%d", node, j))
	pod.Spec.NodeName, pod.Spec.PriorityClassName = node, "koord-prod"
	pod.Labels = map[string]string{extension.LabelPodQoS: string(extension.QoSLS)}
	if j%3 == 2 {
		pod.Spec.PriorityClassName = "koord-batch"
		pod.Labels[extension.LabelPodQoS] = string(extension.QoSBE)
		list := controlplane.Quantities(map[corev1.ResourceName]string{extension.BatchCPU: "500", extension.BatchMemory: "1Gi"})
		pod.Spec.Containers[0].Resources = corev1.ResourceRequirements{Requests: list, Limits: list}
	}
	return pod
}

// newPodMetric reports half of what a pod requests.
func newPodMetric(pod *corev1.Pod) *slov1alpha1.PodMetricInfo {
	qos := extension.QoSClass(pod.Labels[extension.LabelPodQoS])
	metric := &slov1alpha1.PodMetricInfo{
		Name: pod.Name, Namespace: pod.Namespace, QoS: qos, Priority: extension.PriorityProd,
		PodUsage: slov1alpha1.ResourceMap{ResourceList: amounts(250, 512)},
	}
	if qos == extension.QoSBE {
		metric.Priority = extension.PriorityBatch
	}
	return metric
}

// newPod requests half a CPU and 1 GiB. No scheduler places it.
func newPod(name string) *corev1.Pod {
	list := amounts(500, 1024)
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec: corev1.PodSpec{
			SchedulerName: "none",
			Containers:    []corev1.Container{{Name: "main", Image: "none", Resources: corev1.ResourceRequirements{Requests: list, Limits: list}}},
		},
	}
}
