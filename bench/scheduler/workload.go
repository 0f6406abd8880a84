package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"koordinator.sh/koord/api/extension"
	schedulingsigsv1alpha1 "koordinator.sh/koord/api/schedulingsigs/v1alpha1"
	"koordinator.sh/koord/bench/controlplane"
)

// workload is what pods of a run have in common.
type workload struct {
	// shape completes pod number i.
	shape func(pod *corev1.Pod, i int)
	// prepare creates what the pods need; nil for nothing.
	prepare func(ctx context.Context, c *cluster, chosen settings) error
	// reported is how long ago the NodeMetrics were made.
	reported time.Duration
	// refused is true when no node is for the pods: what is measured is what they cost from then on.
	refused bool
	// oursOnly leaves out schedulers without this project's plugins.
	oursOnly bool
}

const gangSize = 10

var workloads = map[string]workload{
	"basic":   {shape: func(*corev1.Pod, int) {}},
	"batch":   {shape: batch},
	"gang":    {shape: gang, oursOnly: true},
	"quota":   {shape: inQuota, prepare: createQuotas, oursOnly: true},
	"mixed":   {shape: mixed},
	"refused": {shape: tooLarge, refused: true},
	"expired": {shape: func(*corev1.Pod, int) {}, reported: time.Hour, refused: true, oursOnly: true},
}

func workloadNames() []string { return slices.Sorted(maps.Keys(workloads)) }

// batch asks for what services leave unused.
func batch(pod *corev1.Pod, _ int) {
	pod.Labels[extension.LabelPodQoS] = string(extension.QoSBE)
	pod.Spec.Priority = nil
	list := controlplane.Quantities(map[corev1.ResourceName]string{extension.BatchCPU: "500", extension.BatchMemory: "1Gi"})
	pod.Spec.Containers[0].Resources = corev1.ResourceRequirements{Requests: list, Limits: list}
}

// mixed makes no two of 400 pods in a row equal.
func mixed(pod *corev1.Pod, i int) {
	pod.Spec.Containers[0].Resources.Requests = controlplane.Quantities(map[corev1.ResourceName]string{"cpu": fmt.Sprintf("%dm", 300+i%400), "memory": "1Gi"})
}

// tooLarge asks for more than a node has.
func tooLarge(pod *corev1.Pod, _ int) {
	pod.Spec.Containers[0].Resources.Requests = controlplane.Quantities(map[corev1.ResourceName]string{"cpu": "33", "memory": "1Gi"})
}

// gang puts every ten pods into a group that starts as a whole or not at all.
func gang(pod *corev1.Pod, i int) {
	pod.Annotations = map[string]string{
		extension.AnnotationGangName: fmt.Sprintf("gang-%d", i/gangSize), extension.AnnotationGangMinAvailable: fmt.Sprint(gangSize),
	}
}

const (
	quotaParents = 100
	quotaLeaves  = 10000
)

// inQuota spreads the pods over the leaves of a tree of 10,000.
func inQuota(pod *corev1.Pod, i int) {
	pod.Labels[extension.LabelQuotaName] = leafName(i % quotaLeaves)
}

func leafName(i int) string { return fmt.Sprintf("leaf-%05d", i) }

// createQuotas creates the tree: 100 parents with 100 leaves each, every one with its own share.
func createQuotas(ctx context.Context, c *cluster, _ settings) error {
	err := controlplane.SideBySide(ctx, quotaParents, func(ctx context.Context, i int) error {
		return c.createQuota(ctx, fmt.Sprintf("team-%03d", i), map[string]string{extension.LabelQuotaIsParent: "true"}, "100")
	})
	if err != nil {
		return err
	}
	return controlplane.SideBySide(ctx, quotaLeaves, func(ctx context.Context, i int) error {
		return c.createQuota(ctx, leafName(i), map[string]string{extension.LabelQuotaParent: fmt.Sprintf("team-%03d", i%quotaParents)}, "1")
	})
}

func (c *cluster) createQuota(ctx context.Context, name string, labels map[string]string, minimum string) error {
	quota := &schedulingsigsv1alpha1.ElasticQuota{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: labels}}
	quota.Spec.Min = controlplane.Quantities(map[corev1.ResourceName]string{"cpu": minimum, "memory": minimum + "Gi"})
	quota.Spec.Max = controlplane.Quantities(map[corev1.ResourceName]string{"cpu": "10000", "memory": "40000Gi"})
	return c.CreateQuota(ctx, quota, metav1.CreateOptions{})
}

// createPods creates all pods as fast as the API server takes them.
func (c *cluster) createPods(ctx context.Context, chosen settings, w workload, profile string) error {
	return controlplane.SideBySide(ctx, chosen.pods, func(ctx context.Context, i int) error {
		pod := newPod(fmt.Sprintf("pod-%05d", i), profile)
		pod.Labels = map[string]string{workloadLabel: ""}
		w.shape(pod, i)
		_, err := c.Client.CoreV1().Pods(namespace).Create(ctx, pod, metav1.CreateOptions{})
		return err
	})
}

// verify checks that no node got more than it has: a run that breaks this does not count.
func (c *cluster) verify(ctx context.Context) error {
	nodes, err := c.Client.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	pods, err := c.Client.CoreV1().Pods("").List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	free := map[string]corev1.ResourceList{}
	for i := range nodes.Items {
		free[nodes.Items[i].Name] = nodes.Items[i].Status.Allocatable
	}
	for i := range pods.Items {
		pod := &pods.Items[i]
		if free[pod.Spec.NodeName] == nil {
			continue
		}
		for name, asked := range pod.Spec.Containers[0].Resources.Requests {
			left := free[pod.Spec.NodeName][name]
			left.Sub(asked)
			if left.Sign() < 0 {
				return fmt.Errorf("node %s has too little %s for its pods", pod.Spec.NodeName, name)
			}
			free[pod.Spec.NodeName][name] = left
		}
	}
	return nil
}
