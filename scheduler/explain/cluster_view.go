package explain

import (
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	internalcache "k8s.io/kubernetes/pkg/scheduler/backend/cache"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	schedulingsigsv1alpha1 "koordinator.sh/koord/api/schedulingsigs/v1alpha1"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	"koordinator.sh/koord/decision/scheduling/loadaware"
	"koordinator.sh/koord/scheduler/state"
	"koordinator.sh/koord/scheduler/state/gangs"
	"koordinator.sh/koord/scheduler/state/quotas"
	"koordinator.sh/koord/scheduler/state/reservations"
)

// clusterView is the cluster as one evaluation sees it: a snapshot with edits on top. Edits make a new view.
type clusterView struct {
	snapshot *internalcache.Snapshot
	reader   state.Reader
	nodes    map[string]fwk.NodeInfo
	// added are those among the nodes that the snapshot does not have.
	added []*addedNode
	// withAddedPods are the nodes to which pods were added.
	withAddedPods []string
	metrics       map[string]*slov1alpha1.NodeMetric
	assigned      map[string]state.Assigned
	// quotas as the scheduler has them, or with edits; nil when there are none.
	quotas *quotas.View
	// gangs as the scheduler has them, or with edits; nil when there are none.
	gangs *gangs.View
	// reserved is what the reservations of the scheduler are when the pods that were taken away are gone; nil when there are none.
	reserved *reservations.Supposition
	// places of the nodes in the snapshot's list, the same for all views made from one.
	places *places
	// list of the nodes with edits, made when it is asked for.
	list atomic.Pointer[[]fwk.NodeInfo]
}

// places are found once, and only when something is edited.
type places struct {
	once   sync.Once
	byName map[string]int
}

func (p *places) of(list []fwk.NodeInfo) map[string]int {
	p.once.Do(func() {
		p.byName = make(map[string]int, len(list))
		for i, info := range list {
			p.byName[info.Node().Name] = i
		}
	})
	return p.byName
}

// editVersions numbers edited lists of assigned pods; the top bit keeps them apart from those of the state.
var editVersions atomic.Uint64

func newClusterView(snapshot *internalcache.Snapshot, reader state.Reader) *clusterView {
	return &clusterView{snapshot: snapshot, reader: reader, places: &places{}}
}

func (w *clusterView) edit() *clusterView {
	edited := &clusterView{
		snapshot: w.snapshot, reader: w.reader, nodes: map[string]fwk.NodeInfo{}, added: w.added, withAddedPods: slices.Clip(w.withAddedPods),
		metrics: map[string]*slov1alpha1.NodeMetric{}, assigned: map[string]state.Assigned{}, quotas: w.quotas, gangs: w.gangs, reserved: w.reserved, places: w.places,
	}
	maps.Copy(edited.nodes, w.nodes)
	maps.Copy(edited.metrics, w.metrics)
	maps.Copy(edited.assigned, w.assigned)
	return edited
}

// withoutPod takes a pod off its node: out of the node's requests, and its measured usage out of the NodeMetric. What it used of
// a reservation is reserved again.
func (w *clusterView) withoutPod(pod *corev1.Pod, node string) (*clusterView, error) {
	info, err := w.Get(node)
	if err != nil {
		return nil, err
	}
	edited, changed := w.edit(), info.Snapshot()
	if err := changed.RemovePod(klog.Background(), pod); err != nil {
		return nil, err
	}
	if w.reserved != nil {
		var held reservations.Held
		edited.reserved, held = w.reserved.Without(pod)
		if err := replaceHeld(changed, held); err != nil {
			return nil, fmt.Errorf("return the resources of pod %s/%s on node %s to its reservation: %w", pod.Namespace, pod.Name, node, err)
		}
	}
	edited.nodes[node] = changed
	kept := slices.DeleteFunc(slices.Clone(w.Assigned(node).Pods), func(a loadaware.AssignedPod) bool { return a.Pod.UID == pod.UID })
	edited.suppose(func(view *quotas.View) { view.SupposeGone(pod.UID) })
	edited.assigned[node] = state.Assigned{Version: 1<<63 | editVersions.Add(1), Pods: kept}
	if metric := w.NodeMetric(node); metric != nil {
		edited.metrics[node] = withoutUsage(metric, pod)
	}
	return edited, nil
}

// replaceHeld puts the pod that holds the room of a reservation in the place of what it was before.
func replaceHeld(node fwk.NodeInfo, held reservations.Held) error {
	if held.Before == held.After {
		return nil
	}
	if held.Before != nil {
		if err := node.RemovePod(klog.Background(), held.Before); err != nil {
			return err
		}
	}
	if held.After == nil {
		return nil
	}
	info, err := framework.NewPodInfo(held.After)
	if err != nil {
		return err
	}
	node.AddPodInfo(info)
	return nil
}

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

// withNode replaces a node object.
func (w *clusterView) withNode(node *corev1.Node) (*clusterView, error) {
	info, err := w.Get(node.Name)
	if err != nil {
		return nil, err
	}
	edited, changed := w.edit(), info.Snapshot()
	changed.SetNode(node)
	edited.nodes[node.Name] = changed
	return edited, nil
}

// editNode changes a node object as it is in this view.
func (w *clusterView) editNode(name string, edit func(*corev1.Node)) (*clusterView, error) {
	info, err := w.Get(name)
	if err != nil {
		return nil, err
	}
	node := info.Node().DeepCopy()
	edit(node)
	return w.withNode(node)
}

// editMetric changes the NodeMetric of a node as it is in this view.
func (w *clusterView) editMetric(name string, edit func(*slov1alpha1.NodeMetric, fwk.NodeInfo)) (*clusterView, error) {
	info, err := w.Get(name)
	if err != nil {
		return nil, err
	}
	metric := w.NodeMetric(name)
	if metric == nil {
		return nil, fmt.Errorf("edit the NodeMetric of node %q: there is none", name)
	}
	edited, changed := w.edit(), metric.DeepCopy()
	edit(changed, info)
	edited.metrics[name] = changed
	return edited, nil
}

// withObject replaces a custom resource that plugins read.
func (w *clusterView) withObject(object any) (*clusterView, error) {
	edited := w.edit()
	switch typed := object.(type) {
	case *schedulingsigsv1alpha1.ElasticQuota:
		edited.suppose(func(view *quotas.View) { view.Suppose(typed) })
	case *schedulingsigsv1alpha1.PodGroup:
		if edited.gangs != nil {
			edited.gangs = edited.gangs.Fork()
			edited.gangs.Suppose(typed)
		}
	default:
		return nil, fmt.Errorf("simulate a change of a %T: not supported", object)
	}
	return edited, nil
}

// suppose changes the quotas of this view alone.
func (w *clusterView) suppose(change func(*quotas.View)) {
	if w.quotas != nil {
		w.quotas = w.quotas.Fork()
		change(w.quotas)
	}
}

// NodeMetric implements state.Reader.
func (w *clusterView) NodeMetric(node string) *slov1alpha1.NodeMetric {
	if metric, edited := w.metrics[node]; edited {
		return metric
	}
	return w.reader.NodeMetric(node)
}

// Assigned implements state.Reader.
func (w *clusterView) Assigned(node string) state.Assigned {
	if assigned, edited := w.assigned[node]; edited {
		return assigned
	}
	return w.reader.Assigned(node)
}

// Stamp implements state.Reader; views are compared by their objects.
func (w *clusterView) Stamp(string) *atomic.Uint64 { return nil }

// Get implements fwk.NodeInfoLister.
func (w *clusterView) Get(name string) (fwk.NodeInfo, error) {
	if info, edited := w.nodes[name]; edited {
		return info, nil
	}
	return w.snapshot.Get(name)
}

// List implements fwk.NodeInfoLister.
func (w *clusterView) List() ([]fwk.NodeInfo, error) {
	list, err := w.snapshot.List()
	if err != nil || len(w.nodes) == 0 {
		return list, err
	}
	if made := w.list.Load(); made != nil {
		return *made, nil
	}
	edited, at := slices.Clone(list), w.places.of(list)
	for name, info := range w.nodes {
		if i, found := at[name]; found {
			edited[i] = info
		}
	}
	for _, added := range w.added {
		edited = append(edited, w.nodes[added.name])
	}
	w.list.Store(&edited)
	return edited, nil
}

// addedNode returns the added node of a name, nil for any other.
func (w *clusterView) addedNode(name string) *addedNode {
	if w == nil { // nothing is shown yet
		return nil
	}
	for _, added := range w.added {
		if added.name == name {
			return added
		}
	}
	return nil
}

// HavePodsWithAffinityList implements fwk.NodeInfoLister.
func (w *clusterView) HavePodsWithAffinityList() ([]fwk.NodeInfo, error) {
	list, err := w.snapshot.HavePodsWithAffinityList()
	return w.replace(list, func(info fwk.NodeInfo) bool { return len(info.GetPodsWithAffinity()) > 0 }), err
}

// HavePodsWithRequiredAntiAffinityList implements fwk.NodeInfoLister.
func (w *clusterView) HavePodsWithRequiredAntiAffinityList() ([]fwk.NodeInfo, error) {
	list, err := w.snapshot.HavePodsWithRequiredAntiAffinityList()
	return w.replace(list, func(info fwk.NodeInfo) bool { return len(info.GetPodsWithRequiredAntiAffinity()) > 0 }), err
}

// replace puts edited nodes in the place of those they were made from, and adds those to which a pod was added that makes them
// belong into the list.
func (w *clusterView) replace(list []fwk.NodeInfo, belongs func(fwk.NodeInfo) bool) []fwk.NodeInfo {
	if len(w.nodes) == 0 {
		return list
	}
	replaced, listed := slices.Clone(list), map[string]bool{}
	for i, info := range replaced {
		listed[info.Node().Name] = true
		if edited, found := w.nodes[info.Node().Name]; found {
			replaced[i] = edited
		}
	}
	for _, name := range w.withAddedPods {
		if !listed[name] && belongs(w.nodes[name]) {
			listed[name] = true
			replaced = append(replaced, w.nodes[name])
		}
	}
	return replaced
}

// IsPVCUsedByPods implements fwk.StorageInfoLister.
func (w *clusterView) IsPVCUsedByPods(key string) bool {
	if !w.snapshot.IsPVCUsedByPods(key) || len(w.nodes) == 0 {
		return w.snapshot.IsPVCUsedByPods(key)
	}
	list, err := w.List()
	return err != nil || slices.ContainsFunc(list, func(info fwk.NodeInfo) bool { return info.GetPVCRefCounts()[key] > 0 })
}

// simulatedState shows plugins one view of the cluster at a time. Only its owner changes the view, and only between evaluations.
type simulatedState struct {
	*clusterView
	quotas simulatedQuotas
	gangs  simulatedGangs
	// reserved is empty when the view has no reservations, and no plugin reads them then.
	reserved simulatedReservations
}

// simulatedQuotas shows the quotas of the view in use.
type simulatedQuotas struct{ *quotas.View }

// simulatedGangs shows the gangs of the view in use.
type simulatedGangs struct{ *gangs.View }

// simulatedReservations shows the reservations of the view in use.
type simulatedReservations struct{ *reservations.Supposition }

func (s *simulatedState) show(w *clusterView) {
	s.clusterView, s.quotas.View, s.gangs.View, s.reserved.Supposition = w, w.quotas, w.gangs, w.reserved
}

// NodeInfos implements fwk.SharedLister.
func (s *simulatedState) NodeInfos() fwk.NodeInfoLister { return s }

// StorageInfos implements fwk.SharedLister.
func (s *simulatedState) StorageInfos() fwk.StorageInfoLister { return s }

// PodGroupStates implements fwk.SharedLister.
func (s *simulatedState) PodGroupStates() fwk.PodGroupStateLister { return s.snapshot.PodGroupStates() }

// Reserve does nothing: explanations never reserve.
func (s *simulatedState) Reserve(*corev1.Pod, string, time.Time) {}

// Unreserve does nothing.
func (s *simulatedState) Unreserve(*corev1.Pod, string) {}

// MetricsChanged is not needed, because explanations never batch.
func (s *simulatedState) MetricsChanged() uint64 { return 0 }

var _ fwk.SharedLister = &simulatedState{}
