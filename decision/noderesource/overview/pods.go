package overview

import (
	"cmp"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	"koordinator.sh/koord/decision/core/podrequest"
	"koordinator.sh/koord/decision/core/unknown"
	"koordinator.sh/koord/decision/noderesource/overcommit"
)

// PodsInput is what the rows of pods are made of.
type PodsInput struct {
	// Rows as PodOf makes them, in any order. They become those of the list.
	Rows []diagnosticsv1alpha1.PodOverview
	// Metrics of at least the nodes the pods run on.
	Metrics []slov1alpha1.NodeMetric
	// Unknown are the inputs that could not be read.
	Unknown unknown.Inputs
	Now     time.Time
}

// Pods is one row for each pod, ordered by namespace and name.
func Pods(in PodsInput) *diagnosticsv1alpha1.PodOverviewList {
	measured := usesByNode(in.Metrics, in.Now)
	list := &diagnosticsv1alpha1.PodOverviewList{TypeMeta: typeMeta("PodOverviewList"), Items: in.Rows, Unknown: in.Unknown.List()}
	if list.Items == nil {
		list.Items = []diagnosticsv1alpha1.PodOverview{} // an empty list is not null
	}
	for i := range list.Items {
		row := &list.Items[i]
		uses := measured[row.NodeName]
		if used, ok := uses.pods[podName{row.Namespace, row.Name}]; ok {
			row.CPU.Used, row.Memory.Used, row.ObservedAt = new(used.MilliCPU), new(used.Memory), uses.observedAt
		}
	}
	slices.SortFunc(list.Items, func(a, b diagnosticsv1alpha1.PodOverview) int {
		return cmp.Or(strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name))
	})
	return list
}

// nodeUses is what the pods of one node use, and when that was observed.
type nodeUses struct {
	observedAt *metav1.Time
	pods       map[podName]podrequest.Amount
}

type podName struct{ namespace, name string }

// usesByNode reads the measurements that may be believed.
func usesByNode(metrics []slov1alpha1.NodeMetric, now time.Time) map[string]nodeUses {
	out := make(map[string]nodeUses, len(metrics))
	for i := range metrics {
		uses := nodeUses{observedAt: metrics[i].Status.UpdateTime, pods: make(map[podName]podrequest.Amount, len(metrics[i].Status.PodsMetric))}
		facts := overcommit.EachPodUse(&metrics[i], now, func(info *slov1alpha1.PodMetricInfo, used podrequest.Amount) {
			uses.pods[podName{info.Namespace, info.Name}] = used
		})
		if facts.State == diagnosticsv1alpha1.MetricFresh || facts.State == diagnosticsv1alpha1.MetricStale {
			out[metrics[i].Name] = uses
		}
	}
	return out
}

// PodOf is a pod's row without what it uses. It takes a tenth of the memory of the pod.
func PodOf(pod *corev1.Pod) diagnosticsv1alpha1.PodOverview {
	requests := podrequest.Of(pod)
	tier := requests.Tier()
	asked, limits := requests.Requests.Of(tier), podrequest.LimitsOf(pod).Of(tier)
	return diagnosticsv1alpha1.PodOverview{
		TypeMeta: typeMeta("PodOverview"),
		ObjectMeta: metav1.ObjectMeta{
			Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID, Labels: pod.Labels, CreationTimestamp: pod.CreationTimestamp,
		},
		QoSClass: string(requests.QoS), PriorityBand: string(requests.Band), Phase: pod.Status.Phase, Reason: reasonOf(pod), NodeName: pod.Spec.NodeName,
		CPU:    diagnosticsv1alpha1.PodResourceOverview{Tier: string(tier), Requested: asked.MilliCPU, Limit: limit(limits.MilliCPU)},
		Memory: diagnosticsv1alpha1.PodResourceOverview{Tier: string(tier), Requested: asked.Memory, Limit: limit(limits.Memory)},
	}
}

// limit is absent when the pod has none.
func limit(value int64) *int64 {
	if value == 0 {
		return nil
	}
	return &value
}
