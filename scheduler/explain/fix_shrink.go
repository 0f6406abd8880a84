package explain

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	resourcehelper "k8s.io/component-helpers/resource"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/decision/core/amount"
	"koordinator.sh/koord/scheduler/reason"
)

const (
	// maxShrunkNodes bounds the nodes on which a smaller request is searched for.
	maxShrunkNodes = 8
	// maxGrouped bounds the pods that are placed again for each request that is tried.
	maxGrouped = 8
	// unitCPU and unitCore are the milliCPU of one, with two threads to a core.
	unitCPU  = 1000
	unitCore = 2000
)

// shrinkings proposes to reduce one request on nodes where no operand of a single refusal says how far: the largest request that
// passes is searched for by running the chain. It is exact, to the unit in which the scheduler counts, among the roomiest of those
// nodes.
func (s *simulation) shrinkings(ctx context.Context, w *clusterView, e *evaluation) ([]candidate, error) {
	var nodes []fwk.NodeInfo
	grouped := s.inSmallGroup(e.pod)
	for i, info := range e.nodes {
		if s.shrinkable(e.refusals[i]) || grouped && refusedBy(e.refusals[i], names.NodeResourcesFit) {
			nodes = append(nodes, info)
		}
	}
	requests := resourcehelper.PodRequests(e.pod, resourcehelper.PodResourcesOptions{})
	var list []candidate
	for _, name := range slices.Sorted(maps.Keys(requests)) {
		asked := amount.Of(name, requests[name])
		best, node, err := s.largestRequest(ctx, w, e.pod, name, asked, roomiest(nodes, name))
		if err != nil {
			return nil, err
		}
		if best > 0 {
			list = append(list, shrinking(e.pod, name, asked, best, node))
		}
	}
	return list, nil
}

// inSmallGroup is true for a pod that gets its node together with a few others, which may take some of what is free now.
func (s *simulation) inSmallGroup(pod *corev1.Pod) bool {
	return slices.ContainsFunc(s.groupers, func(by reason.Grouper) bool {
		count := len(by.Together(pod))
		return count > 1 && count <= maxGrouped
	})
}

// remediesOf are what the plugin of a refusal says may lift it.
func (s *simulation) remediesOf(r refusal) reason.Remedy {
	if plugin := s.remediable[r.plugin]; plugin != nil {
		return plugin.Remedies(r.reason)
	}
	return 0
}

// shrinkable reports whether a smaller request could lift every refusal of a node, and what is free does not say by how much.
func (s *simulation) shrinkable(refusals []refusal) bool {
	for _, r := range refusals {
		if r.plugin != names.NodeResourcesFit && !s.remediesOf(r).Has(reason.SmallerRequest) {
			return false
		}
	}
	return slices.ContainsFunc(refusals, func(r refusal) bool { return r.plugin != names.NodeResourcesFit })
}

// roomiest returns the nodes with most of a resource free, the roomiest first.
func roomiest(nodes []fwk.NodeInfo, name corev1.ResourceName) []fwk.NodeInfo {
	type room struct {
		info fwk.NodeInfo
		free int64
	}
	best := make([]room, 0, maxShrunkNodes+1)
	for _, info := range nodes {
		this := room{info, freeOn(info, name)}
		if len(best) == maxShrunkNodes && this.free < best[len(best)-1].free {
			continue
		}
		at, _ := slices.BinarySearchFunc(best, this, func(a, b room) int {
			return cmp.Or(cmp.Compare(b.free, a.free), cmp.Compare(a.info.Node().Name, b.info.Node().Name))
		})
		best = slices.Insert(best, at, this)[:min(len(best)+1, maxShrunkNodes)]
	}
	chosen := make([]fwk.NodeInfo, len(best))
	for i := range best {
		chosen[i] = best[i].info
	}
	return chosen
}

func freeOn(info fwk.NodeInfo, name corev1.ResourceName) int64 {
	allocatable, requested := info.GetAllocatable(), info.GetRequested()
	switch name {
	case corev1.ResourceCPU:
		return allocatable.GetMilliCPU() - requested.GetMilliCPU()
	case corev1.ResourceMemory:
		return allocatable.GetMemory() - requested.GetMemory()
	default:
		return allocatable.GetScalarResources()[name] - requested.GetScalarResources()[name]
	}
}

// largestRequest finds the largest request below asked with which one of the nodes passes, and that node; 0 when none
// does.
func (s *simulation) largestRequest(ctx context.Context, w *clusterView, pod *corev1.Pod, name corev1.ResourceName, asked int64, nodes []fwk.NodeInfo) (best int64, node string, err error) {
	smallest := smallestRequest(pod)
	for _, info := range nodes {
		found, err := s.largestOn(ctx, w, pod, name, max(smallest, best+1), asked, info.Node().Name)
		if err != nil {
			return 0, "", err
		}
		if found > best {
			best, node = found, info.Node().Name
		}
	}
	return best, node, nil
}

// smallestRequest is where a search begins: with less, rounding could leave every container with nothing, and a pod that
// asks for nothing is estimated at more than one that asks for little.
func smallestRequest(pod *corev1.Pod) int64 {
	return int64(max(1, len(pod.Spec.Containers)))
}

// largestOn finds the largest request, at least lowest and below asked, with which one node passes; 0 when there is none. Pods
// that own CPUs ask for whole ones, some for whole cores: that is tried where no smallest request passes.
func (s *simulation) largestOn(ctx context.Context, w *clusterView, pod *corev1.Pod, name corev1.ResourceName, lowest, asked int64, node string) (int64, error) {
	for _, unit := range unitsOf(name) {
		passes := func(count int64) (bool, error) {
			e, err := s.evaluate(ctx, w, recreation(pod, withRequest(pod, name, asked, count*unit)), node)
			return err == nil && len(e.feasible()) > 0, err
		}
		count, err := largestCount((lowest+unit-1)/unit, (asked+unit-1)/unit, passes)
		if count > 0 || err != nil {
			return count * unit, err
		}
	}
	return 0, nil
}

// unitsOf are the units in which a smaller request is looked for.
func unitsOf(name corev1.ResourceName) []int64 {
	if name == corev1.ResourceCPU {
		return []int64{1, unitCPU, unitCore}
	}
	return []int64{1}
}

// requestOf is what a pod requests of a resource, overhead included.
func requestOf(pod *corev1.Pod, name corev1.ResourceName) int64 {
	return amount.Of(name, resourcehelper.PodRequests(pod, resourcehelper.PodResourcesOptions{})[name])
}

// largestCount finds the largest number, at least lowest and below limit, that passes; 0 when lowest does not. A smaller one always
// passes where a larger one does, so halving finds it.
func largestCount(lowest, limit int64, passes func(int64) (bool, error)) (int64, error) {
	if lowest >= limit {
		return 0, nil
	}
	if ok, err := passes(lowest); err != nil || !ok {
		return 0, err
	}
	low, high := lowest, limit
	for high-low > 1 {
		middle := low + (high-low)/2
		ok, err := passes(middle)
		if err != nil {
			return 0, err
		}
		if ok {
			low = middle
		} else {
			high = middle
		}
	}
	return low, nil
}

// shrinking proposes to ask for no more than a total of one resource. Rounding over several containers may leave the pod
// with a little less.
func shrinking(pod *corev1.Pod, name corev1.ResourceName, asked, total int64, node string) candidate {
	edited := withRequest(pod, name, asked, total)
	total = requestOf(edited, name)
	from, to := amount.FormatPair(name, asked, total)
	return candidate{
		cost: reason.CostOfReduction(float64(asked-total) / float64(asked)),
		pod:  edited, of: pod, reduced: &reducedRequest{name: name, total: total},
		fix: diagnosticsv1alpha1.Fix{
			Target: diagnosticsv1alpha1.FixPod, Kind: "reduceRequest", Node: node,
			Description: fmt.Sprintf("reduce the pod's %s request from %s to %s (by %s)", amount.ShortName(name), from, to, amount.Format(name, asked-total)),
		},
	}
}
