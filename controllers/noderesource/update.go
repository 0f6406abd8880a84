package noderesource

import (
	"encoding/json"
)

// update is what has to change of a node, by key; null removes. The status endpoint accepts a node's labels and annotations
// too, so that all of it changes at once.
type update struct {
	capacity, allocatable, labels, annotations map[string]any
}

func newUpdate() *update {
	return &update{capacity: map[string]any{}, allocatable: map[string]any{}, labels: map[string]any{}, annotations: map[string]any{}}
}

// body is the JSON merge patch of node.status, or nil when there is nothing to write. It applies to one version of the node
// and no other: over another one, what was left out because it was the same would make a mixture of two offers.
func (u *update) body(resourceVersion string) []byte {
	body, status, metadata := map[string]any{}, map[string]any{}, map[string]any{}
	addIfAny(status, "capacity", u.capacity)
	addIfAny(status, "allocatable", u.allocatable)
	addIfAny(metadata, "labels", u.labels)
	addIfAny(metadata, "annotations", u.annotations)
	addIfAny(body, "status", status)
	addIfAny(body, "metadata", metadata)
	if len(body) == 0 {
		return nil
	}
	metadata["resourceVersion"] = resourceVersion
	body["metadata"] = metadata
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
