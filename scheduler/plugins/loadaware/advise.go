package loadaware

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	resourcehelper "k8s.io/component-helpers/resource"
	fwk "k8s.io/kube-scheduler/framework"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	"koordinator.sh/koord/decision/core/freshness"
	"koordinator.sh/koord/decision/scheduling/loadaware"
	"koordinator.sh/koord/decision/scheduling/reservation"
	"koordinator.sh/koord/scheduler/reason"
)

var _ reason.ClusterAdviser = &Plugin{}

const (
	// costRefresh is that of repairing something broken.
	costRefresh = 1.0
	// costThreshold is that of an edit of a node, and costPoint is added for each point that a threshold is raised by.
	costThreshold = 10.0
	costPoint     = 0.2
	// maxRefreshes and maxThresholds bound the changes of their kinds that are proposed.
	maxRefreshes  = 8
	maxThresholds = 4
)

// AdviseCluster proposes to bring the agent back on nodes with an expired NodeMetric, and to raise the thresholds of the nodes
// that exceed theirs least.
func (p *Plugin) AdviseCluster(_ context.Context, pod *corev1.Pod, nodes []reason.RefusedNode) []reason.Change {
	return append(p.refreshes(nodes), p.thresholds(pod, nodes)...)
}

// refreshes takes what a node would report to be what it reported last or, when that is nothing, what its pods request.
func (p *Plugin) refreshes(nodes []reason.RefusedNode) []reason.Change {
	var changes []reason.Change
	for _, node := range nodes {
		if node.Reasons[0] != loadaware.ReasonExpired {
			continue
		}
		if metric := p.state.NodeMetric(node.Info.Node().Name); metric != nil {
			changes = append(changes, p.refresh(metric))
		}
		if len(changes) == maxRefreshes {
			break
		}
	}
	return changes
}

func (p *Plugin) refresh(metric *slov1alpha1.NodeMetric) reason.Change {
	assumed := "with the last reported usage"
	if metric.Status.NodeMetric == nil {
		assumed = "with the requests of its pods as usage"
	}
	return reason.Change{
		Cost: costRefresh,
		Fix: diagnosticsv1alpha1.Fix{
			Target: diagnosticsv1alpha1.FixCluster, Kind: "refreshNodeMetric", Node: metric.Name,
			Description: fmt.Sprintf("restore koordlet on node %s: its NodeMetric %s, and %s the node passes", metric.Name, sinceText(metric.Status.UpdateTime, p.now()), assumed),
			Mentions:    []diagnosticsv1alpha1.SourceRef{{Kind: "Node", Name: metric.Name}},
		},
		EditMetric: func(metric *slov1alpha1.NodeMetric, node fwk.NodeInfo) {
			if metric.Status.NodeMetric == nil {
				metric.Status.NodeMetric = &slov1alpha1.NodeMetricInfo{NodeUsage: slov1alpha1.ResourceMap{ResourceList: requestedOn(node)}}
			}
			metric.Status.UpdateTime = &metav1.Time{Time: p.now()}
		},
	}
}

// requestedOn is the cpu and memory that the pods of a node request together. Reserve pods hold resources and use none.
func requestedOn(info fwk.NodeInfo) corev1.ResourceList {
	var cpu, memory int64
	for _, pod := range info.GetPods() {
		if reservation.IsReservePod(pod.GetPod()) {
			continue
		}
		requests := resourcehelper.PodRequests(pod.GetPod(), resourcehelper.PodResourcesOptions{})
		cpu += requests.Cpu().MilliValue()
		memory += requests.Memory().Value()
	}
	return corev1.ResourceList{
		corev1.ResourceCPU:    *resource.NewMilliQuantity(cpu, resource.DecimalSI),
		corev1.ResourceMemory: *resource.NewQuantity(memory, resource.BinarySI),
	}
}

func sinceText(at *metav1.Time, now time.Time) string {
	if at == nil {
		return "was never reported"
	}
	distance := freshness.Distance(now, at.Time, time.Second)
	if at.After(now) {
		return "is " + distance + " ahead of the clock"
	}
	return "is " + distance + " old"
}
