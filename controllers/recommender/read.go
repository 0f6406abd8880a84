package recommender

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	analysisv1alpha1 "koordinator.sh/koord/api/analysis/v1alpha1"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	"koordinator.sh/koord/decision/recommend"
)

// owned names the pods of a workload in a namespace.
type owned struct {
	namespace string
	workload  recommend.Workload
}

// podsByTarget lists the pods once and gives each target its own. The pods belong to the cache. A selector that cannot be
// read selects nothing.
func (r *reconciler) podsByTarget(ctx context.Context, list []analysisv1alpha1.Recommendation) (map[types.NamespacedName][]*corev1.Pod, error) {
	byWorkload := map[owned][]types.NamespacedName{}
	bySelector := map[string]map[types.NamespacedName]labels.Selector{}
	for i := range list {
		each, key := &list[i], client.ObjectKeyFromObject(&list[i])
		if workload, ok := recommend.WorkloadOf(&each.Spec.Target); ok {
			target := owned{each.Namespace, workload}
			byWorkload[target] = append(byWorkload[target], key)
		} else if selector, err := metav1.LabelSelectorAsSelector(each.Spec.Target.PodSelector); err == nil {
			if bySelector[each.Namespace] == nil {
				bySelector[each.Namespace] = map[types.NamespacedName]labels.Selector{}
			}
			bySelector[each.Namespace][key] = selector
		}
	}
	var pods corev1.PodList
	if err := r.client.List(ctx, &pods, client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("list pods: %w", err)
	}
	out := map[types.NamespacedName][]*corev1.Pod{}
	for i := range pods.Items {
		pod := &pods.Items[i]
		if pod.DeletionTimestamp != nil {
			continue
		}
		for _, workload := range recommend.WorkloadsOf(pod) {
			for _, key := range byWorkload[owned{pod.Namespace, workload}] {
				out[key] = append(out[key], pod)
			}
		}
		for key, selector := range bySelector[pod.Namespace] {
			if selector.Matches(labels.Set(pod.Labels)) {
				out[key] = append(out[key], pod)
			}
		}
	}
	return out, nil
}

// usages are the latest reports about pods that belong to a target. A report from a node that the pod is not on is of an
// older pod of the same name.
func (r *reconciler) usages(ctx context.Context, targets map[types.NamespacedName][]*corev1.Pod) (map[types.NamespacedName]usage, error) {
	nodes := map[types.NamespacedName]string{}
	for _, pods := range targets {
		for _, pod := range pods {
			nodes[client.ObjectKeyFromObject(pod)] = pod.Spec.NodeName
		}
	}
	if len(nodes) == 0 {
		return nil, nil
	}
	var metrics slov1alpha1.NodeMetricList
	if err := r.client.List(ctx, &metrics, client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("list node metrics: %w", err)
	}
	out := map[types.NamespacedName]usage{}
	for i := range metrics.Items {
		m := &metrics.Items[i]
		if m.Status.UpdateTime == nil {
			continue
		}
		for _, pod := range m.Status.PodsMetric {
			if pod == nil {
				continue
			}
			key := types.NamespacedName{Namespace: pod.Namespace, Name: pod.Name}
			cpu, measured := pod.PodUsage.ResourceList[corev1.ResourceCPU]
			if nodes[key] != m.Name || !measured {
				continue
			}
			memory := pod.PodUsage.ResourceList[corev1.ResourceMemory]
			out[key] = usage{at: m.Status.UpdateTime.Time, Usage: recommend.Usage{Cores: cpu.AsApproximateFloat64(), Bytes: memory.AsApproximateFloat64()}}
		}
	}
	return out, nil
}
