package explain

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/decision/core/kubectl"
	"koordinator.sh/koord/decision/scheduling/nodefit"
)

// uncordons proposes to uncordon nodes that nothing but the cordon refuses.
func uncordons(e *evaluation) []candidate {
	var list []candidate
	for i, info := range e.nodes {
		node := info.Node()
		if !node.Spec.Unschedulable || !refusedBy(e.refusals[i], names.NodeUnschedulable, names.TaintToleration) {
			continue
		}
		taints := nodefit.Untolerated(e.pod, node, comparesTolerations())
		if !e.partial && slices.ContainsFunc(taints, func(t corev1.Taint) bool { return t.Key != corev1.TaintNodeUnschedulable }) {
			continue
		}
		list = append(list, candidate{
			cost: costUncordon,
			fix: diagnosticsv1alpha1.Fix{
				Target: diagnosticsv1alpha1.FixCluster, Kind: "uncordon", Node: node.Name,
				Description: "uncordon node " + node.Name, Steps: []diagnosticsv1alpha1.FixStep{kubectl.Uncordon(node.Name)},
			},
			edit: func(w *clusterView) (*clusterView, error) { return w.editNode(node.Name, uncordon) },
		})
	}
	return keepCheapest(list, 4)
}

func uncordon(node *corev1.Node) {
	node.Spec.Unschedulable = false
	node.Spec.Taints = slices.DeleteFunc(node.Spec.Taints, func(t corev1.Taint) bool { return t.Key == corev1.TaintNodeUnschedulable })
}
