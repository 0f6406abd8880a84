package explain

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	corev1helpers "k8s.io/component-helpers/scheduling/corev1"
	fwk "k8s.io/kube-scheduler/framework"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/decision/scheduling/nodefit"
	"koordinator.sh/koord/decision/scheduling/reservation"
	"koordinator.sh/koord/scheduler/reason"
)

const (
	// maxEvictionNodes bounds the nodes on which evictions are considered.
	maxEvictionNodes = 50
	// maxEvictionsPerNode bounds the pods proposed on one of them.
	maxEvictionsPerNode = 3
	// maxEvictedTogether bounds the pods of one proposal.
	maxEvictedTogether = 5
)

// evictions proposes to evict one pod of a lower priority, or where none is large enough a few, from nodes that would pass
// with fewer pods on them.
func (s *simulation) evictions(e *evaluation) []candidate {
	var list []candidate
	for info, missing := range s.curable(e) {
		proposed := 0
		victims := s.victimsOn(e.pod, info)
		for _, victim := range victims {
			if proposed == maxEvictionsPerNode {
				break
			}
			if frees(victim, missing) {
				proposed++
				list = append(list, eviction(info.Node().Name, victim.GetPod()))
			}
		}
		if together := enough(victims, missing); proposed == 0 && len(together) > 1 {
			list = append(list, eviction(info.Node().Name, together...))
		}
	}
	return keepCheapest(list, 16)
}

// curable goes through the nodes whose every refusal may depend on the pods of the node, as far as they are considered, with
// what is missing there.
func (s *simulation) curable(e *evaluation) iter.Seq2[fwk.NodeInfo, []nodefit.Shortage] {
	lasting := func(r refusal) bool { return r.final && !s.remediesOf(r).Has(reason.FewerPods) }
	return func(yield func(fwk.NodeInfo, []nodefit.Shortage) bool) {
		considered := 0
		for i, info := range e.nodes {
			if len(e.refusals[i]) == 0 || slices.ContainsFunc(e.refusals[i], lasting) {
				continue
			}
			if considered++; considered > maxEvictionNodes || !yield(info, shortages(e.pod, e.filtered[i])) {
				return
			}
		}
	}
}

// victimsOn lists the pods that may be evicted for the pod, and by the caller, the least important first. Reservations are proposed to end elsewhere.
func (s *simulation) victimsOn(pod *corev1.Pod, info fwk.NodeInfo) []fwk.PodInfo {
	var victims []fwk.PodInfo
	for _, candidate := range info.GetPods() {
		other := candidate.GetPod()
		if corev1helpers.PodPriority(other) < corev1helpers.PodPriority(pod) && !staysOnNode(other) && !reservation.IsReservePod(other) && s.mayEvict(other) {
			victims = append(victims, candidate)
		}
	}
	slices.SortFunc(victims, func(x, y fwk.PodInfo) int {
		a, b := x.GetPod(), y.GetPod()
		return cmp.Or(cmp.Compare(corev1helpers.PodPriority(a), corev1helpers.PodPriority(b)), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	return victims
}

// staysOnNode is true for pods that would come back to the same node: static ones and those of a DaemonSet.
func staysOnNode(pod *corev1.Pod) bool {
	if _, static := pod.Annotations[corev1.MirrorPodAnnotationKey]; static {
		return true
	}
	owner := metav1.GetControllerOf(pod)
	return owner != nil && owner.Kind == "DaemonSet"
}

// frees is true when a victim holds at least what is missing, which spares trials of evictions that cannot help.
func frees(victim fwk.PodInfo, missing []nodefit.Shortage) bool {
	held := victim.CalculateResource().Resource
	for _, shortage := range missing {
		gap := shortage.Asked - (shortage.Allocatable - shortage.Requested)
		if gap > amountHeld(held, shortage.Resource) {
			return false
		}
	}
	return true
}

func amountHeld(held fwk.Resource, name corev1.ResourceName) int64 {
	switch name {
	case corev1.ResourcePods:
		return 1
	case corev1.ResourceCPU:
		return held.GetMilliCPU()
	case corev1.ResourceMemory:
		return held.GetMemory()
	case corev1.ResourceEphemeralStorage:
		return held.GetEphemeralStorage()
	}
	return held.GetScalarResources()[name]
}

// enough are the least important victims that together hold what is missing; none when they would be too many.
func enough(victims []fwk.PodInfo, missing []nodefit.Shortage) []*corev1.Pod {
	left := map[corev1.ResourceName]int64{}
	for _, shortage := range missing {
		left[shortage.Resource] = shortage.Asked - (shortage.Allocatable - shortage.Requested)
	}
	var chosen []*corev1.Pod
	for _, victim := range victims {
		held, helps, short := victim.CalculateResource().Resource, false, false
		for name, gap := range left {
			amount := amountHeld(held, name)
			helps = helps || gap > 0 && amount > 0
			short = short || gap > amount
		}
		if !helps {
			continue
		}
		for name := range left {
			left[name] -= amountHeld(held, name)
		}
		chosen = append(chosen, victim.GetPod())
		if !short {
			return chosen
		}
		if len(chosen) == maxEvictedTogether {
			return nil
		}
	}
	return nil
}

func eviction(node string, victims ...*corev1.Pod) candidate {
	names, steps, kind := make([]string, len(victims)), make([]diagnosticsv1alpha1.FixStep, len(victims)), "evictPod"
	for i, victim := range victims {
		names[i] = fmt.Sprintf("%s (priority %d)", reason.Called(victim), corev1helpers.PodPriority(victim))
		steps[i] = reason.Eviction(victim)
	}
	if len(victims) > 1 {
		kind = "evictPods"
	}
	return candidate{
		cost: costEvict * float64(len(victims)),
		fix: diagnosticsv1alpha1.Fix{
			Target: diagnosticsv1alpha1.FixCluster, Kind: kind, Node: node,
			Description: fmt.Sprintf("evict %s from node %s", strings.Join(names, ", "), node),
			Steps:       steps,
		},
		edit: func(w *clusterView) (*clusterView, error) {
			var err error
			for _, victim := range victims {
				if w, err = w.withoutPod(victim, node); err != nil {
					return nil, err
				}
			}
			return w, nil
		},
	}
}
