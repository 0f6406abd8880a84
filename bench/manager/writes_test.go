package main

import (
	"encoding/json"
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func TestEveryTurnWritesSomethingNew(t *testing.T) {
	object := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "Node", "metadata": map[string]any{"name": "node-0001", "resourceVersion": "7"},
		"spec":   map[string]any{"resourceUsedThresholdWithBE": map[string]any{"enable": true}},
		"status": map[string]any{"capacity": map[string]any{"cpu": "32"}, "allocatable": map[string]any{"cpu": "32"}},
	}}
	before, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range slices.Concat(writeWays...) {
		t.Run(w.name, func(t *testing.T) {
			said := map[string]bool{}
			for round := range 5 {
				body, err := json.Marshal(w.body(object, round))
				if err != nil {
					t.Fatal(err)
				}
				said[string(body)] = true
				var sent unstructured.Unstructured
				if err := json.Unmarshal(body, &sent.Object); err != nil || sent.GetResourceVersion() != "7" {
					t.Errorf("%s does not name the version that it changes: %v", body, err)
				}
			}
			if len(said) != 5 {
				t.Errorf("%d different bodies in 5 turns: %v", len(said), said)
			}
		})
	}
	if after, err := json.Marshal(object); err != nil || string(after) != string(before) {
		t.Errorf("the object became %s, %v", after, err)
	}
}

func TestTheManagedFieldsAreResetOnce(t *testing.T) {
	object := &unstructured.Unstructured{Object: map[string]any{}}
	reset := func() bool {
		_, found, _ := unstructured.NestedSlice(map[string]any{"patch": untrackedPatch(object, 1)}, "patch", "metadata", "managedFields")
		return found
	}
	if reset() {
		t.Error("managed fields are reset that are not kept")
	}
	object.SetManagedFields([]metav1.ManagedFieldsEntry{{Manager: "koord-manager"}})
	if !reset() {
		t.Error("managed fields are not reset")
	}
}
