package objects

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	"koordinator.sh/koord/decision/core/amount"
	"koordinator.sh/koord/decision/core/podrequest"
	"koordinator.sh/koord/decision/core/podstate"
	"koordinator.sh/koord/decision/descheduling/drain"
	"koordinator.sh/koord/decision/noderesource/overcommit"
	"koordinator.sh/koord/decision/noderesource/overview"
)

// drainLoad is what one node is asked for.
type drainLoad struct {
	pods      int32
	requested map[corev1.ResourceName]int64
}

// loads are the requests of each node, of the pods that have not ended.
func (d *Drain) loads() map[string]*drainLoad {
	out := map[string]*drainLoad{}
	for i := range d.in.Nodes {
		out[d.in.Nodes[i].Name] = &drainLoad{requested: map[corev1.ResourceName]int64{}}
	}
	for i := range d.in.Pods {
		pod := &d.in.Pods[i]
		if load := out[pod.Spec.NodeName]; load != nil && !podstate.Ended(pod) {
			load.pods++
			add(load.requested, requestsOf(pod))
		}
	}
	return out
}

// targets are the other nodes before and after.
func (d *Drain) targets() {
	before, arriving, used := d.loads(), map[string]*drainLoad{}, map[string]podrequest.Amount{}
	uses, measured := d.uses()
	unmeasured := map[string]bool{}
	d.returning(func(selected *drain.Selected, pod *diagnosticsv1alpha1.DrainedPod) {
		if pod.To == "" {
			return
		}
		if arriving[pod.To] == nil {
			arriving[pod.To] = &drainLoad{requested: map[corev1.ResourceName]int64{}}
		}
		arriving[pod.To].pods++
		add(arriving[pod.To].requested, requestsOf(selected.Pod))
		use, known := uses[types.NamespacedName{Namespace: pod.Namespace, Name: pod.Name}]
		unmeasured[pod.To] = unmeasured[pod.To] || !known
		used[pod.To] = used[pod.To].Add(use)
	})
	for i := range d.in.Nodes {
		node := &d.in.Nodes[i]
		if slices.Contains(d.in.Drained, node.Name) {
			continue
		}
		more := cmp.Or(arriving[node.Name], &drainLoad{})
		row := diagnosticsv1alpha1.DrainTarget{Name: node.Name, PodsBefore: before[node.Name].pods, PodsAfter: before[node.Name].pods + more.pods}
		row.Resources = loadsOf(node, before[node.Name].requested, more.requested)
		if row.Resources == nil {
			row.Resources = []diagnosticsv1alpha1.DrainLoad{}
		}
		for j := range row.Resources {
			load := &row.Resources[j]
			now, arrives := usedOf(load.Resource, measured[node.Name], used[node.Name])
			load.UsedBefore = now
			if now != nil && !unmeasured[node.Name] {
				load.UsedAfter = new(*now + arrives)
			}
		}
		d.answer.Targets = append(d.answer.Targets, row)
	}
	slices.SortFunc(d.answer.Targets, func(a, b diagnosticsv1alpha1.DrainTarget) int { return strings.Compare(a.Name, b.Name) })
}

// loadsOf are the resources of a node that are requested before or after, and cpu and memory.
func loadsOf(node *corev1.Node, before, more map[corev1.ResourceName]int64) []diagnosticsv1alpha1.DrainLoad {
	names := map[corev1.ResourceName]bool{corev1.ResourceCPU: true, corev1.ResourceMemory: true}
	for _, requested := range []map[corev1.ResourceName]int64{before, more} {
		for name, value := range requested {
			if value != 0 {
				names[name] = true
			}
		}
	}
	var out []diagnosticsv1alpha1.DrainLoad
	for _, name := range slices.Sorted(maps.Keys(names)) {
		out = append(out, diagnosticsv1alpha1.DrainLoad{
			Resource: string(name), Unit: amount.UnitOf(name), Allocatable: offered(node, name), RequestedBefore: before[name], RequestedAfter: before[name] + more[name],
		})
	}
	return out
}

func offered(node *corev1.Node, name corev1.ResourceName) int64 {
	quantity, found := node.Status.Allocatable[name]
	if !found {
		return 0
	}
	return amount.Of(name, quantity)
}

// uses are the measured usage of the pods that leave, and the rows of all nodes.
func (d *Drain) uses() (map[types.NamespacedName]podrequest.Amount, map[string]*diagnosticsv1alpha1.NodeOverview) {
	uses, rows := map[types.NamespacedName]podrequest.Amount{}, map[string]*diagnosticsv1alpha1.NodeOverview{}
	for i := range d.in.Metrics {
		metric := &d.in.Metrics[i]
		if slices.Contains(d.in.Drained, metric.Name) {
			overcommit.EachPodUse(metric, d.in.Now, func(info *slov1alpha1.PodMetricInfo, use podrequest.Amount) {
				uses[types.NamespacedName{Namespace: info.Namespace, Name: info.Name}] = use
			})
		}
	}
	list := overview.Nodes(overview.NodesInput{Nodes: d.in.Nodes, Pods: overcommit.RequestsOfAll(d.in.Pods), Metrics: d.in.Metrics, Unknown: d.in.Unknown, Now: d.in.Now})
	for i := range list.Items {
		rows[list.Items[i].Name] = &list.Items[i]
	}
	return uses, rows
}

// usedOf is the usage of a resource on a node and by what arrives; nil where it is not measured.
func usedOf(resource string, row *diagnosticsv1alpha1.NodeOverview, arriving podrequest.Amount) (now *int64, more int64) {
	switch {
	case row == nil:
		return nil, 0
	case resource == string(corev1.ResourceCPU):
		return row.CPU.Used, arriving.MilliCPU
	case resource == string(corev1.ResourceMemory):
		return row.Memory.Used, arriving.Memory
	}
	return nil, 0
}

// capacity compares what the drained nodes offer with what leaves and what the others have free.
func (d *Drain) capacity() {
	lost, all, free, displaced := map[corev1.ResourceName]int64{}, map[corev1.ResourceName]int64{}, map[corev1.ResourceName]int64{}, map[corev1.ResourceName]int64{}
	loads := d.loads()
	for i := range d.in.Nodes {
		node := &d.in.Nodes[i]
		for name := range node.Status.Allocatable {
			value := offered(node, name)
			all[name] += value
			switch {
			case slices.Contains(d.in.Drained, node.Name):
				lost[name] += value
			case !node.Spec.Unschedulable && overcommit.Ready(node):
				free[name] += max(value-loads[node.Name].requested[name], 0)
			}
		}
	}
	for i := range d.selected {
		if d.selected[i].Evict && drain.Returns(d.selected[i].Pod) {
			add(displaced, requestsOf(d.selected[i].Pod))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(lost)) {
		if name == corev1.ResourcePods || lost[name] == 0 && displaced[name] == 0 {
			continue
		}
		d.answer.Capacity = append(d.answer.Capacity, diagnosticsv1alpha1.DrainCapacity{
			Resource: string(name), Unit: amount.UnitOf(name), Lost: lost[name], ShareBasisPoints: basisPoints(100 * float64(lost[name]) / float64(max(all[name], 1))),
			Displaced: displaced[name], Free: free[name],
		})
	}
}
