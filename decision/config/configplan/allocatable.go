package configplan

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// Allocatable is what each node with other offers would have allocatable of them, by its name: 0 of what it would not offer any more. Offers
// that are not written at once, because they differ too little from what is published, are left out.
func (p *Plan) Allocatable() map[string]corev1.ResourceList {
	allocatable := map[string]corev1.ResourceList{}
	for i := range p.Nodes {
		node := &p.Nodes[i]
		list := corev1.ResourceList{}
		for j := range node.Offers {
			if offer := &node.Offers[j]; offer.New == nil {
				list[offer.Resource] = *resource.NewQuantity(0, resource.DecimalSI)
			} else if offer.Reason == "" {
				list[offer.Resource] = quantityOf(offer.Resource, *offer.New)
			}
		}
		if len(list) > 0 {
			allocatable[node.Name] = list
		}
	}
	return allocatable
}

// quantityOf is a value in the form in which node.status has the resource: only cpu has decimals.
func quantityOf(name corev1.ResourceName, value int64) resource.Quantity {
	if name == corev1.ResourceCPU {
		return *resource.NewMilliQuantity(value, resource.DecimalSI)
	}
	return *resource.NewQuantity(value, resource.DecimalSI)
}
