package objects

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	"koordinator.sh/koord/api/extension"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	"koordinator.sh/koord/decision/descheduling/rebalance"
)

// measuredNode is a node as LoadAwareRebalancing sees it, with the load that it reports now: that of the system and of the pods on it. used is
// what the pods use, in the order of the resources; it and the usage of the node are nil when the NodeMetric cannot be used.
func measuredNode(node *corev1.Node, metric *slov1alpha1.NodeMetric, pods []*corev1.Pod, resources []corev1.ResourceName, now time.Time,
	expiration time.Duration) (out rebalance.Node, used map[podName][]float64) {
	out = rebalance.Node{Name: node.Name, Capacity: amountsOf(node.Status.Allocatable, resources), Unschedulable: node.Spec.Unschedulable}
	if raw, err := extension.GetNodeRawAllocatable(node.Annotations); err == nil {
		for r, name := range resources {
			if quantity, set := raw[name]; set {
				out.Capacity[r] = quantity.AsApproximateFloat64()
			}
		}
	}
	if !usable(metric, now, expiration) {
		return out, nil
	}
	used = make(map[podName][]float64, len(metric.Status.PodsMetric))
	for _, info := range metric.Status.PodsMetric {
		if info != nil {
			used[podName{info.Namespace, info.Name}] = amountsOf(info.PodUsage.ResourceList, resources)
		}
	}
	out.Usage = amountsOf(metric.Status.NodeMetric.SystemUsage.ResourceList, resources)
	for _, pod := range pods {
		for r, amount := range used[podName{pod.Namespace, pod.Name}] {
			out.Usage[r] += amount
		}
	}
	return out, used
}

// problemOf says why LoadAwareRebalancing does not know the load of a node; empty when it does.
func problemOf(node *rebalance.Node) string {
	if node.Usage == nil {
		return "its NodeMetric is missing or expired"
	}
	return ""
}

func expirationOf(args *rebalance.Args) time.Duration {
	return time.Duration(*args.NodeMetricExpirationSeconds) * time.Second
}

func usable(metric *slov1alpha1.NodeMetric, now time.Time, expiration time.Duration) bool {
	if metric == nil || metric.Status.UpdateTime == nil || metric.Status.NodeMetric == nil {
		return false
	}
	at := metric.Status.UpdateTime.Time
	return now.Sub(at) <= expiration && at.Sub(now) <= expiration
}

func amountsOf(list corev1.ResourceList, resources []corev1.ResourceName) []float64 {
	out := make([]float64, len(resources))
	for r, name := range resources {
		quantity := list[name]
		out[r] = quantity.AsApproximateFloat64()
	}
	return out
}
