package loadaware

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// Outlook is what a node is expected to carry beyond what its NodeMetric reports. Resources that are zero are left out.
type Outlook struct {
	// ProdUsage is the reported usage of prod pods.
	ProdUsage corev1.ResourceList
	// NodeDelta is what assigned pods will use beyond what is reported of them, ProdDelta the part of prod pods.
	NodeDelta, ProdDelta corev1.ResourceList
	// NodeDeltaPods and ProdDeltaPods are the pods that count in the two, as NAMESPACE/NAME, in order.
	NodeDeltaPods, ProdDeltaPods []string
}

// Outlook of a node that was observed under the policy.
func (p *Policy) Outlook(node *Node) Outlook {
	outlook := Outlook{NodeDelta: p.ResourceList(node.everyone), ProdDelta: p.ResourceList(node.prod)}
	if node.metric.prod != nil {
		outlook.ProdUsage = p.ResourceList(node.metric.prod)
	}
	for _, pod := range node.pending {
		name := pod.namespace + "/" + pod.name
		if pod.beyond != nil {
			outlook.NodeDeltaPods = append(outlook.NodeDeltaPods, name)
		}
		if pod.beyondProd != nil {
			outlook.ProdDeltaPods = append(outlook.ProdDeltaPods, name)
		}
	}
	slices.Sort(outlook.NodeDeltaPods)
	slices.Sort(outlook.ProdDeltaPods)
	return outlook
}
