package loadaware

import (
	"maps"
	"slices"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	fwk "k8s.io/kube-scheduler/framework"

	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	"koordinator.sh/koord/decision/scheduling/loadaware"
	"koordinator.sh/koord/scheduler/part"
	"koordinator.sh/koord/scheduler/state"
)

// view is the load of the nodes with what explanations suppose of it.
type view struct {
	state.Reader
	// metrics and assigned replace what the state says, by the name of the node. A nil metric is none.
	metrics  map[string]*slov1alpha1.NodeMetric
	assigned map[string]state.Assigned
}

var (
	_ part.PodRemover     = &view{}
	_ part.PodPlacer      = &view{}
	_ part.NodeAdder      = &view{}
	_ part.ObjectReplacer = &view{}
)

// shown is the State of the plugin in explanations.
type shown struct{ *view }

func simulate(now func() time.Time) part.Simulation {
	read := &shown{}
	return part.NewSimulation(Factory(read, now), func(v *view) { read.view = v })
}

// editVersions numbers edited lists of assigned pods; the top bit keeps them apart from those of the state.
var editVersions atomic.Uint64

func nextVersion() uint64 { return 1<<63 | editVersions.Add(1) }

func (v *view) edit() *view {
	edited := &view{Reader: v.Reader, metrics: map[string]*slov1alpha1.NodeMetric{}, assigned: map[string]state.Assigned{}}
	maps.Copy(edited.metrics, v.metrics)
	maps.Copy(edited.assigned, v.assigned)
	return edited
}

// WithoutPod implements part.PodRemover: what the node's agent measured of the pod is not used either.
func (v *view) WithoutPod(pod *corev1.Pod, info fwk.NodeInfo) (part.View, error) {
	edited, node := v.edit(), info.Node().Name
	kept := slices.DeleteFunc(slices.Clone(v.Assigned(node).Pods), func(a loadaware.AssignedPod) bool { return a.Pod.UID == pod.UID })
	edited.assigned[node] = state.Assigned{Version: nextVersion(), Pods: kept}
	if metric := v.NodeMetric(node); metric != nil {
		edited.metrics[node] = withoutUsage(metric, pod)
	}
	return edited, nil
}

// Fork implements part.PodPlacer.
func (v *view) Fork() part.PodPlacer { return v.edit() }

// Place implements part.PodPlacer.
func (v *view) Place(pod *corev1.Pod, at time.Time) {
	node := pod.Spec.NodeName
	pods := append(slices.Clone(v.Assigned(node).Pods), loadaware.AssignedPod{Pod: pod, AssignedAt: at})
	v.assigned[node] = state.Assigned{Version: nextVersion(), Pods: pods}
}

// WithNode implements part.NodeAdder. What the agent of a new node reports first is that the system uses what it uses on the node
// it is like.
func (v *view) WithNode(node *corev1.Node, like string, at time.Time) part.View {
	edited := v.edit()
	edited.metrics[node.Name] = nil
	reported := v.NodeMetric(like)
	if reported == nil {
		return edited
	}
	metric := &slov1alpha1.NodeMetric{ObjectMeta: metav1.ObjectMeta{Name: node.Name}, Spec: *reported.Spec.DeepCopy()}
	metric.Status.UpdateTime = &metav1.Time{Time: at}
	metric.Status.NodeMetric = &slov1alpha1.NodeMetricInfo{}
	if before := reported.Status.NodeMetric; before != nil {
		before.SystemUsage.DeepCopyInto(&metric.Status.NodeMetric.SystemUsage)
		before.SystemUsage.DeepCopyInto(&metric.Status.NodeMetric.NodeUsage)
	}
	edited.metrics[node.Name] = metric
	return edited
}

// WithObject implements part.ObjectReplacer for NodeMetrics.
func (v *view) WithObject(object any) (part.View, bool) {
	metric, ok := object.(*slov1alpha1.NodeMetric)
	if !ok {
		return v, false
	}
	edited := v.edit()
	edited.metrics[metric.Name] = metric
	return edited, true
}

// NodeMetric implements state.Reader.
func (v *view) NodeMetric(node string) *slov1alpha1.NodeMetric {
	if metric, edited := v.metrics[node]; edited {
		return metric
	}
	return v.Reader.NodeMetric(node)
}

// Assigned implements state.Reader.
func (v *view) Assigned(node string) state.Assigned {
	if assigned, edited := v.assigned[node]; edited {
		return assigned
	}
	return v.Reader.Assigned(node)
}

// Stamp implements state.Reader; views are compared by their objects.
func (v *view) Stamp(string) *atomic.Uint64 { return nil }

// Reserve implements State: explanations never reserve.
func (v *view) Reserve(*corev1.Pod, string, time.Time) {}

// Unreserve implements State.
func (v *view) Unreserve(*corev1.Pod, string) {}

// MetricsChanged implements State. It is not needed, because explanations never batch.
func (v *view) MetricsChanged() uint64 { return 0 }

// withoutUsage subtracts what a NodeMetric reports of a pod from what it reports of the node.
func withoutUsage(metric *slov1alpha1.NodeMetric, pod *corev1.Pod) *slov1alpha1.NodeMetric {
	index := slices.IndexFunc(metric.Status.PodsMetric, func(m *slov1alpha1.PodMetricInfo) bool {
		return m != nil && m.Namespace == pod.Namespace && m.Name == pod.Name
	})
	if index < 0 || metric.Status.NodeMetric == nil {
		return metric
	}
	used := metric.Status.PodsMetric[index].PodUsage.ResourceList
	edited := metric.DeepCopy()
	edited.Status.PodsMetric = slices.Delete(edited.Status.PodsMetric, index, index+1)
	subtract(edited.Status.NodeMetric.NodeUsage.ResourceList, used)
	for _, aggregated := range edited.Status.NodeMetric.AggregatedNodeUsages {
		for _, usage := range aggregated.Usage {
			subtract(usage.ResourceList, used)
		}
	}
	return edited
}

func subtract(from, used corev1.ResourceList) {
	for name, quantity := range from {
		if part, found := used[name]; found {
			quantity.Sub(part)
			if quantity.Sign() < 0 {
				quantity.Set(0)
			}
			from[name] = quantity
		}
	}
}
