package noderesource

import (
	"encoding/json"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/decision/core/podrequest"
	"koordinator.sh/koord/decision/noderesource/overcommit"
)

// offer adds what publishes a result. The resources go out together when due is set, and with them the annotation with the
// offer before other schedulers took their part.
func (u *update) offer(node *corev1.Node, result overcommit.Result, due bool) {
	if due {
		for _, name := range overcommit.Resources() {
			value, _ := result.Of(name)
			setResource(u.capacity, node.Status.Capacity, name, value)
			setResource(u.allocatable, node.Status.Allocatable, name, value)
		}
	}
	if origin, changed := originAnnotation(node, result); changed && (due || originMissing(node)) {
		u.annotations[extension.AnnotationNodeOriginExtendedAllocatable] = origin
	}
}

// setResource adds what has to change of one resource: a new amount, or null to remove it.
func setResource(into map[string]any, published corev1.ResourceList, name corev1.ResourceName, value overcommit.Value) {
	before, exists := published[name]
	switch {
	case value.Withdrawn && exists:
		into[string(name)] = nil
	case !value.Withdrawn && (!exists || before.CmpInt64(value.Value) != 0):
		into[string(name)] = strconv.FormatInt(value.Value, 10)
	}
}

// originAnnotation is the offer before other schedulers took their part, and whether the node says something else. Nodes that no other
// scheduler uses do not get it.
func originAnnotation(node *corev1.Node, result overcommit.Result) (string, bool) {
	before, exists := node.Annotations[extension.AnnotationNodeOriginExtendedAllocatable]
	if !exists && result.ThirdParty == (podrequest.Amount{}) {
		return "", false
	}
	origin := extension.OriginAllocatable{Resources: corev1.ResourceList{
		extension.BatchCPU:    *resource.NewQuantity(result.BatchCPU.Origin, resource.DecimalSI),
		extension.BatchMemory: *resource.NewQuantity(result.BatchMemory.Origin, resource.BinarySI),
	}}
	if said, err := extension.GetOriginExtendedAllocatable(node.Annotations); err == nil && said != nil && sameAmounts(said.Resources, origin.Resources) {
		return before, false
	}
	encoded, err := json.Marshal(origin)
	if err != nil {
		return before, false
	}
	return string(encoded), true
}

func originMissing(node *corev1.Node) bool {
	_, exists := node.Annotations[extension.AnnotationNodeOriginExtendedAllocatable]
	return !exists
}

func sameAmounts(a, b corev1.ResourceList) bool {
	if len(a) != len(b) {
		return false
	}
	for name, quantity := range a {
		other, ok := b[name]
		if !ok || quantity.Cmp(other) != 0 {
			return false
		}
	}
	return true
}
