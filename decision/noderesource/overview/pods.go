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
	// Uses of at least the nodes the pods run on, as UsesOf makes them.
	Uses []NodeUses
	// Unknown are the inputs that could not be read.
	Unknown unknown.Inputs
}

// Pods is one row for each pod, ordered by namespace and name.
func Pods(in PodsInput) *diagnosticsv1alpha1.PodOverviewList {
	measured := usesByNode(in.Uses)
	list := &diagnosticsv1alpha1.PodOverviewList{TypeMeta: typeMeta("PodOverviewList"), Items: in.Rows, Unknown: in.Unknown.List()}
	if list.Items == nil {
		list.Items = []diagnosticsv1alpha1.PodOverview{} // an empty list is not null
	}
	for i := range list.Items {
		row := &list.Items[i]
		if used, observedAt := measured[row.NodeName].of(row.Namespace, row.Name); used != nil {
			row.CPU.Used, row.Memory.Used, row.ObservedAt = &used.MilliCPU, &used.Memory, observedAt
		}
	}
	slices.SortFunc(list.Items, func(a, b diagnosticsv1alpha1.PodOverview) int {
		return cmp.Or(strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name))
	})
	return list
}

// NodeUses is what the pods of one node use, and when that was observed. It takes a tenth of the memory of the NodeMetric.
type NodeUses struct {
	node       string
	observedAt *metav1.Time
	pods       map[podName]*podrequest.Amount
}

type podName struct{ namespace, name string }

// UsesOf reads a NodeMetric. Measurements that may not be believed are left out.
func UsesOf(metric *slov1alpha1.NodeMetric, now time.Time) NodeUses {
	uses := NodeUses{node: metric.Name, observedAt: metric.Status.UpdateTime, pods: make(map[podName]*podrequest.Amount, len(metric.Status.PodsMetric))}
	amounts := make([]podrequest.Amount, 0, len(metric.Status.PodsMetric))
	overcommit.EachPodUse(metric, now, func(info *slov1alpha1.PodMetricInfo, used podrequest.Amount) {
		amounts = append(amounts, used)
		uses.pods[podName{info.Namespace, info.Name}] = &amounts[len(amounts)-1]
	})
	return uses
}

func usesByNode(uses []NodeUses) map[string]*NodeUses {
	byNode := make(map[string]*NodeUses, len(uses))
	for i := range uses {
		byNode[uses[i].node] = &uses[i]
	}
	return byNode
}

// of is what one pod uses, and when that was observed; nil where that is not known.
func (u *NodeUses) of(namespace, name string) (*podrequest.Amount, *metav1.Time) {
	if u == nil {
		return nil, nil
	}
	return u.pods[podName{namespace, name}], u.observedAt
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
