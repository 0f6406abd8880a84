package recommender

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	analysisv1alpha1 "koordinator.sh/koord/api/analysis/v1alpha1"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	"koordinator.sh/koord/decision/noderesource/recommend"
)

// owned names the pods of a workload in a namespace.
type owned struct {
	namespace string
	workload  recommend.Workload
}

// matcher finds the Recommendations that a pod is a target of.
type matcher struct {
	byWorkload map[owned][]types.NamespacedName
	bySelector map[string]map[types.NamespacedName]labels.Selector
	// namespaces of the Recommendations, each once.
	namespaces []string
}

// newMatcher reads the targets. A selector that cannot be read selects nothing.
func newMatcher(list []analysisv1alpha1.Recommendation) *matcher {
	m := &matcher{byWorkload: map[owned][]types.NamespacedName{}, bySelector: map[string]map[types.NamespacedName]labels.Selector{}}
	for i := range list {
		each, key := &list[i], client.ObjectKeyFromObject(&list[i])
		if !slices.Contains(m.namespaces, each.Namespace) {
			m.namespaces = append(m.namespaces, each.Namespace)
		}
		if workload, ok := recommend.WorkloadOf(&each.Spec.Target); ok {
			target := owned{each.Namespace, workload}
			m.byWorkload[target] = append(m.byWorkload[target], key)
		} else if selector, err := metav1.LabelSelectorAsSelector(each.Spec.Target.PodSelector); err == nil {
			if m.bySelector[each.Namespace] == nil {
				m.bySelector[each.Namespace] = map[types.NamespacedName]labels.Selector{}
			}
			m.bySelector[each.Namespace][key] = selector
		}
	}
	return m
}

// sort adds a pod to those of its targets.
func (m *matcher) sort(pod *corev1.Pod, out map[types.NamespacedName][]*corev1.Pod) {
	for _, workload := range recommend.WorkloadsOf(pod) {
		for _, key := range m.byWorkload[owned{pod.Namespace, workload}] {
			out[key] = append(out[key], pod)
		}
	}
	for key, selector := range m.bySelector[pod.Namespace] {
		if selector.Matches(labels.Set(pod.Labels)) {
			out[key] = append(out[key], pod)
		}
	}
}

// podsByTarget lists the pods that occupy a node once and gives each target its own. The pods belong to the cache.
func (r *reconciler) podsByTarget(ctx context.Context, m *matcher) (map[types.NamespacedName][]*corev1.Pod, error) {
	var pods corev1.PodList
	if err := r.client.List(ctx, &pods, client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("list pods: %w", err)
	}
	out := map[types.NamespacedName][]*corev1.Pod{}
	for i := range pods.Items {
		if pods.Items[i].DeletionTimestamp == nil {
			m.sort(&pods.Items[i], out)
		}
	}
	return out, nil
}

// failedByTarget lists the pods that have failed, which the cache does not have, in the namespaces of the targets. The API
// server answers from what it watches: a failure that it does not show yet is there in the next pass.
func (r *reconciler) failedByTarget(ctx context.Context, m *matcher) (map[types.NamespacedName][]*corev1.Pod, error) {
	out := map[types.NamespacedName][]*corev1.Pod{}
	failed := client.MatchingFields{"status.phase": string(corev1.PodFailed)}
	watched := &client.ListOptions{Raw: &metav1.ListOptions{ResourceVersion: "0"}}
	for _, namespace := range m.namespaces {
		var pods corev1.PodList
		if err := r.live.List(ctx, &pods, watched, client.InNamespace(namespace), failed); err != nil {
			return nil, fmt.Errorf("list failed pods in namespace %q: %w", namespace, err)
		}
		for i := range pods.Items {
			m.sort(&pods.Items[i], out)
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
