package agentview

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	"koordinator.sh/koord/decision/core/freshness"
	"koordinator.sh/koord/decision/core/podrequest"
)

// defaultReportInterval is how often a node reports where its NodeMetric does not say.
const defaultReportInterval = time.Minute

// Measure takes what a NodeMetric reports for what the node and its pods use; a nil one, and one without a report, reports nothing.
func (n *Node) Measure(metric *slov1alpha1.NodeMetric) {
	if metric == nil || metric.Status.UpdateTime == nil || metric.Status.NodeMetric == nil {
		return
	}
	interval := defaultReportInterval
	if policy := metric.Spec.CollectPolicy; policy != nil && policy.ReportIntervalSeconds != nil && *policy.ReportIntervalSeconds > 0 {
		interval = max(time.Duration(min(*policy.ReportIntervalSeconds, 3600))*time.Second, freshness.MinReportInterval)
	}
	n.Observation = freshness.Observation{At: metric.Status.UpdateTime.Time, Period: interval}
	n.Used = amountOf(metric.Status.NodeMetric.NodeUsage.ResourceList)
	type key struct{ namespace, name string }
	used := make(map[key]podrequest.Amount, len(metric.Status.PodsMetric))
	for _, pod := range metric.Status.PodsMetric {
		if pod != nil {
			used[key{pod.Namespace, pod.Name}] = amountOf(pod.PodUsage.ResourceList)
		}
	}
	n.PodUsed = func(pod *corev1.Pod) (podrequest.Amount, bool) {
		amount, measured := used[key{pod.Namespace, pod.Name}]
		return amount, measured
	}
}

func amountOf(list corev1.ResourceList) podrequest.Amount {
	return podrequest.Amount{MilliCPU: list.Cpu().MilliValue(), Memory: list.Memory().Value()}
}
