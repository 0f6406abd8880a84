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
	"koordinator.sh/koord/api/finding"
	decision "koordinator.sh/koord/decision/loadaware"
)

const (
	// maxShrunkNodes bounds the nodes on which a smaller request is searched for.
	maxShrunkNodes = 3
	// shrinkSteps is the precision of the search: a request is cut to a multiple of this part of itself.
	shrinkSteps = 64
)

// shrinkings proposes to reduce one request on nodes that room and load refuse together, where no operand of a single
// refusal says how far: the largest request that passes is searched for by running the chain.
func (s *simulation) shrinkings(ctx context.Context, w *world, e *evaluation) ([]candidate, error) {
	var nodes []fwk.NodeInfo
	for i, info := range e.nodes {
		if shrinkable(e.refusals[i]) {
			nodes = append(nodes, info)
		}
	}
	requests := resourcehelper.PodRequests(e.pod, resourcehelper.PodResourcesOptions{})
	var list []candidate
	for _, name := range slices.Sorted(maps.Keys(requests)) {
		asked := amountOf(name, requests[name])
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

// shrinkable reports whether a smaller request could lift every refusal of a node: those for lack of room and of load,
// but not for an expired NodeMetric.
func shrinkable(refusals []refusal) bool {
	return refusedBy(refusals, names.NodeResourcesFit, decision.PluginName) && slices.ContainsFunc(refusals, func(r refusal) bool {
		return r.plugin == decision.PluginName
	}) && !slices.ContainsFunc(refusals, func(r refusal) bool { return codeOf(r) == finding.LoadMetricExpired })
}

// roomiest returns the nodes with most of a resource free.
func roomiest(nodes []fwk.NodeInfo, name corev1.ResourceName) []fwk.NodeInfo {
	nodes = slices.Clone(nodes)
	slices.SortFunc(nodes, func(a, b fwk.NodeInfo) int {
		return cmp.Or(cmp.Compare(freeOn(b, name), freeOn(a, name)), cmp.Compare(a.Node().Name, b.Node().Name))
	})
	return nodes[:min(maxShrunkNodes, len(nodes))]
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
// does. A smaller request never passes where a larger one is refused, so halving finds it.
func (s *simulation) largestRequest(ctx context.Context, w *world, pod *corev1.Pod, name corev1.ResourceName, asked int64, nodes []fwk.NodeInfo) (best int64, node string, err error) {
	for _, info := range nodes {
		passes := func(step int64) (bool, error) {
			e, err := s.evaluate(ctx, w, withRequest(pod, name, asked, asked*step/shrinkSteps), info.Node().Name)
			return err == nil && len(e.feasible()) > 0, err
		}
		low, high := int64(0), int64(shrinkSteps)
		for high-low > 1 {
			middle := (low + high) / 2
			ok, err := passes(middle)
			if err != nil {
				return 0, "", err
			}
			if ok {
				low = middle
			} else {
				high = middle
			}
		}
		if found := asked * low / shrinkSteps; found > best {
			best, node = found, info.Node().Name
		}
	}
	return best, node, nil
}

func shrinking(pod *corev1.Pod, name corev1.ResourceName, asked, total int64, node string) candidate {
	from, to := formatPair(name, asked, total)
	return candidate{
		cost: costReduce + 20*float64(asked-total)/float64(asked),
		pod:  withRequest(pod, name, asked, total),
		fix: diagnosticsv1alpha1.Fix{
			Target: diagnosticsv1alpha1.FixPod, Kind: "reduceRequest", Node: node,
			Description: fmt.Sprintf("reduce the pod's %s request from %s to %s (by %s)", shortName(name), from, to, formatAmount(name, asked-total)),
		},
	}
}
