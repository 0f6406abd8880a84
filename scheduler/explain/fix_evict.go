package explain

import (
	"cmp"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	corev1helpers "k8s.io/component-helpers/scheduling/corev1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/noderesources"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	decision "koordinator.sh/koord/decision/loadaware"
)

const (
	// maxEvictionNodes bounds the nodes on which evictions are considered.
	maxEvictionNodes = 50
	// maxEvictionsPerNode bounds the pods proposed on one of them.
	maxEvictionsPerNode = 3
)

// evictions proposes to evict one pod of a lower priority from nodes that would pass with fewer pods on them.
func evictions(e *evaluation) []candidate {
	var list []candidate
	considered := 0
	for i, info := range e.nodes {
		if considered == maxEvictionNodes {
			break
		}
		if !curableByEviction(e.refusals[i]) {
			continue
		}
		considered++
		missing := shortages(e.pod, e.crowded[i])
		proposed := 0
		for _, victim := range victimsOn(e.pod, info) {
			if proposed == maxEvictionsPerNode {
				break
			}
			if frees(victim, missing) {
				proposed++
				list = append(list, eviction(victim.GetPod(), info.Node().Name))
			}
		}
	}
	return keepCheapest(list, 16)
}

// curableByEviction is true when every refusal may depend on the pods of the node.
func curableByEviction(refusals []refusal) bool {
	return len(refusals) > 0 && !slices.ContainsFunc(refusals, func(r refusal) bool { return r.final && r.plugin != decision.PluginName })
}

// victimsOn lists the pods that may be evicted for the pod, the least important first.
func victimsOn(pod *corev1.Pod, info fwk.NodeInfo) []fwk.PodInfo {
	var victims []fwk.PodInfo
	for _, candidate := range info.GetPods() {
		other := candidate.GetPod()
		if corev1helpers.PodPriority(other) < corev1helpers.PodPriority(pod) && !staysOnNode(other) {
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
func frees(victim fwk.PodInfo, missing []noderesources.InsufficientResource) bool {
	held := victim.CalculateResource().Resource
	for _, shortage := range missing {
		gap := shortage.Requested - (shortage.Capacity - shortage.Used)
		if gap > amountHeld(held, shortage.ResourceName) {
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

func eviction(victim *corev1.Pod, node string) candidate {
	return candidate{
		cost: costEvict,
		fix: diagnosticsv1alpha1.Fix{
			Target: diagnosticsv1alpha1.FixCluster, Kind: "evictPod", Node: node,
			Description: fmt.Sprintf("evict pod %s/%s (priority %d) from node %s", victim.Namespace, victim.Name, corev1helpers.PodPriority(victim), node),
			Command:     fmt.Sprintf("kubectl delete pod -n %s %s", victim.Namespace, victim.Name),
		},
		edit: func(w *world) (*world, error) { return w.withoutPod(victim, node) },
	}
}
