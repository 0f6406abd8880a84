package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	"koordinator.sh/koord/api/extension"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	"koordinator.sh/koord/bench/controlplane"
	"koordinator.sh/koord/sandbox/pki"
)

const (
	systemNamespace = pki.Namespace
	namespace       = "default"
	// podsPerWorkload is the replicas of each Deployment.
	podsPerWorkload = 100
	// Every node has 32 CPUs and 128 GiB, of which every twentieth node uses a part above the thresholds.
	nodeMilliCPU, nodeMiB = 32000, 128 << 10
	hotEvery              = 20
)

func amounts(cpuMilli, memoryMiB int) corev1.ResourceList {
	return controlplane.Quantities(map[corev1.ResourceName]string{"cpu": fmt.Sprintf("%dm", cpuMilli), "memory": fmt.Sprintf("%dMi", memoryMiB)})
}

// populate creates Deployments with their ReplicaSets, and nodes with their pods and what is measured of them.
func populate(ctx context.Context, plane *controlplane.ControlPlane, chosen settings) (err error) {
	if err := plane.CreateServiceAccount(ctx, namespace); err != nil {
		return err
	}
	store, err := plane.OpenStore()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	owners := make([]metav1.OwnerReference, (chosen.nodes*chosen.pods+podsPerWorkload-1)/podsPerWorkload)
	err = controlplane.SideBySide(ctx, len(owners), func(ctx context.Context, i int) (err error) {
		owners[i], err = createWorkload(ctx, plane, i)
		return err
	})
	if err != nil {
		return err
	}
	template, err := plane.CreateRunningPod(ctx, newPod("template", 0, owners[0], usage{}.requests(chosen.pods)))
	if err != nil {
		return err
	}
	if err := plane.Client.CoreV1().Pods(namespace).Delete(ctx, template.Name, metav1.DeleteOptions{GracePeriodSeconds: new(int64(0))}); err != nil {
		return err
	}
	return controlplane.SideBySide(ctx, chosen.nodes, func(ctx context.Context, i int) error {
		node := newNode(i)
		if err := plane.CreateNode(ctx, node); err != nil {
			return err
		}
		pods := make([]*corev1.Pod, chosen.pods)
		usage := usageOf(i)
		metric := &slov1alpha1.NodeMetric{ObjectMeta: metav1.ObjectMeta{Name: node.Name}}
		metric.Status.UpdateTime = &metav1.Time{Time: time.Now()}
		metric.Status.NodeMetric = usage.node()
		for j := range chosen.pods {
			pod := controlplane.CopyOf(template, newPod(node.Name, j, owners[(i*chosen.pods+j)%len(owners)], nil))
			pods[j] = pod
			metric.Status.PodsMetric = append(metric.Status.PodsMetric, usage.pod(pod, chosen.pods))
		}
		if err := store.WritePods(ctx, pods); err != nil {
			return err
		}
		return store.WriteNodeMetric(ctx, metric)
	})
}

// createWorkload creates a Deployment and its ReplicaSet, which nothing works on here.
func createWorkload(ctx context.Context, plane *controlplane.ControlPlane, i int) (metav1.OwnerReference, error) {
	name, replicas := fmt.Sprintf("web-%04d", i), int32(podsPerWorkload)
	selector := &metav1.LabelSelector{MatchLabels: map[string]string{"app": name}}
	template := corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: selector.MatchLabels}, Spec: newPod("", 0, metav1.OwnerReference{}, nil).Spec}
	template.Spec.NodeName = ""
	deployment, err := plane.Client.AppsV1().Deployments(namespace).Create(ctx, &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: appsv1.DeploymentSpec{Replicas: &replicas, Selector: selector, Template: template},
	}, metav1.CreateOptions{})
	if err != nil {
		return metav1.OwnerReference{}, err
	}
	deployment.Status = appsv1.DeploymentStatus{
		ObservedGeneration: deployment.Generation, Replicas: replicas, UpdatedReplicas: replicas, ReadyReplicas: replicas, AvailableReplicas: replicas,
	}
	if _, err := plane.Client.AppsV1().Deployments(namespace).UpdateStatus(ctx, deployment, metav1.UpdateOptions{}); err != nil {
		return metav1.OwnerReference{}, err
	}
	set, err := plane.Client.AppsV1().ReplicaSets(namespace).Create(ctx, &appsv1.ReplicaSet{
		ObjectMeta: metav1.ObjectMeta{Name: name + "-7d", OwnerReferences: []metav1.OwnerReference{controllerOf("Deployment", name, deployment.UID)}},
		Spec:       appsv1.ReplicaSetSpec{Replicas: &replicas, Selector: selector, Template: template},
	}, metav1.CreateOptions{})
	if err != nil {
		return metav1.OwnerReference{}, err
	}
	return controllerOf("ReplicaSet", set.Name, set.UID), nil
}

func controllerOf(kind, name string, uid types.UID) metav1.OwnerReference {
	return metav1.OwnerReference{APIVersion: appsv1.SchemeGroupVersion.String(), Kind: kind, Name: name, UID: uid, Controller: new(true)}
}

func newNode(i int) *corev1.Node {
	name := fmt.Sprintf("node-%04d", i)
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{corev1.LabelHostname: name, corev1.LabelTopologyZone: fmt.Sprintf("zone-%d", i%3)}}}
	node.Status.Capacity = amounts(nodeMilliCPU, nodeMiB)
	node.Status.Capacity[corev1.ResourcePods] = controlplane.Quantities(map[corev1.ResourceName]string{"pods": "110"})[corev1.ResourcePods]
	node.Status.Allocatable = node.Status.Capacity
	node.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue, Reason: "Bench"}}
	return node
}

func newPod(node string, j int, owner metav1.OwnerReference, requests corev1.ResourceList) *corev1.Pod {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: fmt.Sprintf("%s-pod-%d", node, j), Labels: map[string]string{extension.LabelPodQoS: string(extension.QoSLS)}},
		Spec: corev1.PodSpec{
			SchedulerName: "koord-scheduler", NodeName: node, PriorityClassName: "koord-prod",
			Containers: []corev1.Container{{
				Name: "main", Image: "registry.example/team/web:1.0", Resources: corev1.ResourceRequirements{Requests: requests},
				Env:            []corev1.EnvVar{{Name: "LOG_LEVEL", Value: "info"}, {Name: "LISTEN_ADDRESS", Value: ":8080"}},
				ReadinessProbe: &corev1.Probe{ProbeHandler: corev1.ProbeHandler{TCPSocket: &corev1.TCPSocketAction{Port: intstr.FromInt32(8080)}}},
			}},
		},
	}
	if owner.Name != "" {
		pod.OwnerReferences = []metav1.OwnerReference{owner}
	}
	return pod
}

// usage of a node in thousandths of a core and MiB.
type usage struct{ cpuMilli, memoryMiB int }

// usageOf is 15 to 55% of a node, which differs from node to node, and 85% of a hot one.
func usageOf(i int) usage {
	percent := 15 + (i*7919)%41
	if i%hotEvery == 0 {
		percent = 85
	}
	return usage{nodeMilliCPU * percent / 100, nodeMiB * percent / 100}
}

func (u usage) node() *slov1alpha1.NodeMetricInfo {
	info := &slov1alpha1.NodeMetricInfo{
		NodeUsage:   slov1alpha1.ResourceMap{ResourceList: amounts(u.cpuMilli, u.memoryMiB)},
		SystemUsage: slov1alpha1.ResourceMap{ResourceList: amounts(500, 2000)},
	}
	for _, window := range []time.Duration{5 * time.Minute, 10 * time.Minute, 30 * time.Minute} {
		used := slov1alpha1.AggregatedUsage{Duration: metav1.Duration{Duration: window}, Usage: map[extension.AggregationType]slov1alpha1.ResourceMap{}}
		for k, statistic := range []extension.AggregationType{extension.AVG, extension.P50, extension.P90, extension.P95, extension.P99} {
			used.Usage[statistic] = slov1alpha1.ResourceMap{ResourceList: amounts(u.cpuMilli+50*k, u.memoryMiB+100*k)}
		}
		info.AggregatedNodeUsages = append(info.AggregatedNodeUsages, used)
	}
	return info
}

// requests of each pod: the pods of a node request 70% of it, whatever they use.
func (usage) requests(pods int) corev1.ResourceList {
	return amounts(nodeMilliCPU*7/10/pods, nodeMiB*7/10/pods)
}

func (u usage) pod(pod *corev1.Pod, pods int) *slov1alpha1.PodMetricInfo {
	return &slov1alpha1.PodMetricInfo{
		Name: pod.Name, Namespace: pod.Namespace, QoS: extension.QoSLS, Priority: extension.PriorityProd,
		PodUsage: slov1alpha1.ResourceMap{ResourceList: amounts((u.cpuMilli-500)/pods, (u.memoryMiB-2000)/pods)},
	}
}
