package noderesource

import (
	"encoding/json"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/decision/overcommit"
)

// patchBody is the JSON merge patch of node.status that publishes a result, or nil when there is nothing to write. The
// resources go out together when due is set. The annotation with the offer before other schedulers took their part goes
// with them: the status endpoint accepts a node's metadata too, so that both change at once.
func patchBody(node *corev1.Node, result overcommit.Result, due bool) []byte {
	body := map[string]any{}
	if due {
		capacity, allocatable := map[string]any{}, map[string]any{}
		for _, name := range overcommit.Resources() {
			value, _ := result.Of(name)
			setResource(capacity, node.Status.Capacity, name, value)
			setResource(allocatable, node.Status.Allocatable, name, value)
		}
		status := map[string]any{}
		addIfAny(status, "capacity", capacity)
		addIfAny(status, "allocatable", allocatable)
		addIfAny(body, "status", status)
	}
	if origin, changed := originAnnotation(node, result); changed && (due || originMissing(node)) {
		body["metadata"] = map[string]any{"annotations": map[string]any{extension.AnnotationNodeOriginExtendedAllocatable: origin}}
	}
	if len(body) == 0 {
		return nil
	}
	encoded, err := json.Marshal(body)
	if err != nil {
		// Maps of strings and nulls always encode.
		return nil
	}
	return encoded
}

func addIfAny(into map[string]any, key string, values map[string]any) {
	if len(values) > 0 {
		into[key] = values
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

// originAnnotation is the offer before other schedulers took their part, and whether the node says something else. Nodes
// nobody else schedules on do not get it.
func originAnnotation(node *corev1.Node, result overcommit.Result) (string, bool) {
	before, exists := node.Annotations[extension.AnnotationNodeOriginExtendedAllocatable]
	if !exists && !result.ThirdParty {
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
