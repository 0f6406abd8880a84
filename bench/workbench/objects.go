package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"koordinator.sh/koord/api/extension"
	schedulingsigsv1alpha1 "koordinator.sh/koord/api/schedulingsigs/v1alpha1"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	"koordinator.sh/koord/bench/controlplane"
)

const (
	namespace = "default"
	// Every node has 32 CPUs and 128 GiB, and offers a part of them to batch pods.
	nodeMilliCPU, nodeMiB   = 32000, 128 << 10
	batchMilliCPU, batchMiB = 9500, 30 << 10
	// batchEvery is how many pods there are to one of batch.
	batchEvery = 5
)

func amounts(cpuMilli, memoryMiB int) corev1.ResourceList {
	return controlplane.Quantities(map[corev1.ResourceName]string{corev1.ResourceCPU: fmt.Sprintf("%dm", cpuMilli), corev1.ResourceMemory: fmt.Sprintf("%dMi", memoryMiB)})
}

func batchAmounts(cpuMilli, memoryMiB int) corev1.ResourceList {
	return controlplane.Quantities(map[corev1.ResourceName]string{extension.BatchCPU: fmt.Sprint(cpuMilli), extension.BatchMemory: fmt.Sprintf("%dMi", memoryMiB)})
}

// populate creates nodes with their pods and what is measured of them, and one pod that waits.
func populate(ctx context.Context, plane *controlplane.ControlPlane, chosen settings) (err error) {
	if err := plane.CreateServiceAccount(ctx, namespace); err != nil {
		return err
	}
	store, err := plane.OpenStore()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	quota := &schedulingsigsv1alpha1.ElasticQuota{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: quotaName}}
	quota.Spec.Max = batchAmounts(batchMilliCPU*chosen.nodes, batchMiB*chosen.nodes)
	quota.Spec.Min = batchAmounts(batchMilliCPU, batchMiB)
	if err := plane.CreateQuota(ctx, quota, metav1.CreateOptions{}); err != nil {
		return err
	}
	service, err := plane.CreateRunningPod(ctx, newPod("service", "koord-prod", extension.QoSLS, amounts(nodeMilliCPU*7/10/chosen.pods, nodeMiB*7/10/chosen.pods)))
	if err != nil {
		return err
	}
	inQuota := newPod("batch", "koord-batch", extension.QoSBE, batchAmounts(batchMilliCPU/chosen.pods, batchMiB/chosen.pods))
	inQuota.Labels[extension.LabelQuotaName] = quotaName
	batch, err := plane.CreateRunningPod(ctx, inQuota)
	if err != nil {
		return err
	}
	if _, err := plane.Client.CoreV1().Pods(namespace).Create(ctx, newPod(waitingPod, "koord-prod", extension.QoSLS, amounts(2*nodeMilliCPU, 1024)), metav1.CreateOptions{}); err != nil {
		return err
	}
	return controlplane.SideBySide(ctx, chosen.nodes, func(ctx context.Context, i int) error {
		node := newNode(i)
		if err := plane.CreateNode(ctx, node); err != nil {
			return err
		}
		pods := make([]*corev1.Pod, chosen.pods)
		metric := metricOf(node.Name, i)
		for j := range pods {
			template := service
			if j%batchEvery == batchEvery-1 {
				template = batch
			}
			pods[j] = controlplane.CopyOf(template, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("%s-pod-%d", node.Name, j), Labels: template.Labels}, Spec: corev1.PodSpec{NodeName: node.Name}})
			metric.Status.PodsMetric = append(metric.Status.PodsMetric, &slov1alpha1.PodMetricInfo{
				Name: pods[j].Name, Namespace: namespace, PodUsage: slov1alpha1.ResourceMap{ResourceList: amounts(usedMilli(i)/chosen.pods, usedMiB(i)/chosen.pods)},
			})
		}
		if err := store.WritePods(ctx, pods); err != nil {
			return err
		}
		return store.WriteNodeMetric(ctx, metric)
	})
}

// quotaName is the quota of the batch pods.
const quotaName = "team"

// waitingPod is the name of a pod that fits on no node.
const waitingPod = "waits"

func nodeName(i int) string { return fmt.Sprintf("node-%04d", i) }

func newNode(i int) *corev1.Node {
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: nodeName(i), Labels: map[string]string{corev1.LabelHostname: nodeName(i), corev1.LabelTopologyZone: fmt.Sprintf("zone-%d", i%3)}}}
	node.Status.Capacity = amounts(nodeMilliCPU, nodeMiB)
	for name, quantity := range batchAmounts(batchMilliCPU, batchMiB) {
		node.Status.Capacity[name] = quantity
	}
	node.Status.Capacity[corev1.ResourcePods] = controlplane.Quantities(map[corev1.ResourceName]string{"pods": "110"})[corev1.ResourcePods]
	node.Status.Allocatable = node.Status.Capacity
	node.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue, Reason: "Bench"}}
	return node
}

func newPod(name, class string, qos extension.QoSClass, requests corev1.ResourceList) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: map[string]string{extension.LabelPodQoS: string(qos), "app": name}},
		Spec: corev1.PodSpec{
			SchedulerName: "koord-scheduler", PriorityClassName: class,
			Containers: []corev1.Container{{
				Name: "main", Image: "registry.example/team/web:1.0", Resources: corev1.ResourceRequirements{Requests: requests, Limits: requests},
				Env: []corev1.EnvVar{{Name: "LOG_LEVEL", Value: "info"}, {Name: "LISTEN_ADDRESS", Value: ":8080"}},
			}},
		},
	}
}

// usedMilli is 15 to 55% of a node's CPU, which differs from node to node.
func usedMilli(i int) int { return nodeMilliCPU * (15 + (i*7919)%41) / 100 }

func usedMiB(i int) int { return nodeMiB * (15 + (i*7919)%41) / 100 }

func metricOf(node string, i int) *slov1alpha1.NodeMetric {
	metric := &slov1alpha1.NodeMetric{ObjectMeta: metav1.ObjectMeta{Name: node}}
	metric.Status.UpdateTime = &metav1.Time{Time: time.Now()}
	metric.Status.NodeMetric = &slov1alpha1.NodeMetricInfo{
		NodeUsage:   slov1alpha1.ResourceMap{ResourceList: amounts(usedMilli(i), usedMiB(i))},
		SystemUsage: slov1alpha1.ResourceMap{ResourceList: amounts(500, 2000)},
	}
	return metric
}
