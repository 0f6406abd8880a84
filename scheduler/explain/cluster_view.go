package explain

import (
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	internalcache "k8s.io/kubernetes/pkg/scheduler/backend/cache"

	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	"koordinator.sh/koord/scheduler/part"
)

// clusterView is the cluster as one evaluation sees it: a snapshot with edits on top. Edits make a new view.
type clusterView struct {
	snapshot *internalcache.Snapshot
	nodes    map[string]fwk.NodeInfo
	// added are the names of those among the nodes that the snapshot does not have.
	added []string
	// peopled are the nodes to which pods were added.
	peopled []string
	// views are what the parts of the scheduler are shown, in their order.
	views []part.View
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

func newClusterView(snapshot *internalcache.Snapshot, parts part.Set) *clusterView {
	return &clusterView{snapshot: snapshot, views: parts.Views(), places: &places{}}
}

func (w *clusterView) edit() *clusterView {
	edited := &clusterView{
		snapshot: w.snapshot, nodes: map[string]fwk.NodeInfo{}, added: w.added, peopled: slices.Clip(w.peopled), views: slices.Clone(w.views), places: w.places,
	}
	maps.Copy(edited.nodes, w.nodes)
	return edited
}

// withoutPod takes a pod off its node: out of the node's requests, and out of what each part knows.
func (w *clusterView) withoutPod(pod *corev1.Pod, node string) (*clusterView, error) {
	info, err := w.Get(node)
	if err != nil {
		return nil, err
	}
	edited, changed := w.edit(), info.Snapshot()
	if err := changed.RemovePod(klog.Background(), pod); err != nil {
		return nil, err
	}
	for i, view := range edited.views {
		remover, concerned := view.(part.PodRemover)
		if !concerned {
			continue
		}
		if edited.views[i], err = remover.WithoutPod(pod, changed); err != nil {
			return nil, err
		}
	}
	edited.nodes[node] = changed
	return edited, nil
}

// withNodes replaces node objects.
func (w *clusterView) withNodes(nodes ...*corev1.Node) (*clusterView, error) {
	edited := w.edit()
	for _, node := range nodes {
		info, err := w.Get(node.Name)
		if err != nil {
			return nil, err
		}
		changed := info.Snapshot()
		changed.SetNode(node)
		edited.nodes[node.Name] = changed
	}
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
	return w.withNodes(node)
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
	changed := metric.DeepCopy()
	edit(changed, info)
	return w.withObject(changed)
}

// withObject replaces a custom resource that plugins read.
func (w *clusterView) withObject(object any) (*clusterView, error) {
	edited, known := w.edit(), false
	for i, view := range edited.views {
		if replacer, ok := view.(part.ObjectReplacer); ok {
			var replaced bool
			edited.views[i], replaced = replacer.WithObject(object)
			known = known || replaced
		}
	}
	if !known {
		return nil, fmt.Errorf("simulate a change of a %T: not supported", object)
	}
	return edited, nil
}

// NodeMetric of a node, nil when there is none.
func (w *clusterView) NodeMetric(node string) *slov1alpha1.NodeMetric {
	for _, view := range w.views {
		if reader, ok := view.(interface {
			NodeMetric(node string) *slov1alpha1.NodeMetric
		}); ok {
			return reader.NodeMetric(node)
		}
	}
	return nil
}

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
		edited = append(edited, w.nodes[added])
	}
	w.list.Store(&edited)
	return edited, nil
}

// isAdded is true for the name of an added node.
func (w *clusterView) isAdded(name string) bool { return slices.Contains(w.added, name) }

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
	for _, name := range w.peopled {
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
