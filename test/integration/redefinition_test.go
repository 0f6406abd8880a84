package integration

import (
	"context"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/util/retry"
)

var definitionResource = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}

// redefine changes the schema of a kind for the time of the test.
func redefine(t *testing.T, name string, change func(t *testing.T, properties map[string]any)) {
	t.Helper()
	write := func(ctx context.Context, change func(definition *unstructured.Unstructured)) {
		t.Helper()
		if err := retry.RetryOnConflict(retry.DefaultRetry, func() error {
			definition, err := dynamicClient.Resource(definitionResource).Get(ctx, name, metav1.GetOptions{})
			if err != nil {
				return err
			}
			change(definition)
			_, err = dynamicClient.Resource(definitionResource).Update(ctx, definition, metav1.UpdateOptions{})
			return err
		}); err != nil {
			t.Fatal(err)
		}
	}
	var before any
	write(t.Context(), func(definition *unstructured.Unstructured) {
		before = definition.DeepCopy().Object["spec"]
		versions, _, _ := unstructured.NestedSlice(definition.Object, "spec", "versions")
		version := versions[0].(map[string]any)
		properties, found, err := unstructured.NestedMap(version, "schema", "openAPIV3Schema", "properties")
		if err != nil || !found {
			t.Fatalf("definition %s has no properties: %v", name, err)
		}
		change(t, properties)
		set(t, version, properties, "schema", "openAPIV3Schema", "properties")
		set(t, definition.Object, versions, "spec", "versions")
	})
	t.Cleanup(func() {
		write(context.Background(), func(definition *unstructured.Unstructured) { definition.Object["spec"] = before })
	})
}

// olderSchema has a part of the schema know neither some properties nor anything else that it does not name.
func olderSchema(part string, unknown ...string) func(*testing.T, map[string]any) {
	return func(t *testing.T, properties map[string]any) {
		for _, name := range unknown {
			unstructured.RemoveNestedField(properties, append([]string{part, "properties"}, strings.Split(name, "/")...)...)
		}
		prune(properties[part])
	}
}

// prune drops from a schema what keeps unknown fields, where it names fields.
func prune(node any) {
	switch n := node.(type) {
	case map[string]any:
		if _, named := n["properties"]; named {
			delete(n, "x-kubernetes-preserve-unknown-fields")
		}
		for _, child := range n {
			prune(child)
		}
	case []any:
		for _, child := range n {
			prune(child)
		}
	}
}

// newerSchema adds a field with a default, which the API server sets in every object.
func newerSchema(part string) func(*testing.T, map[string]any) {
	return func(t *testing.T, properties map[string]any) {
		set(t, properties, map[string]any{"type": "string", "default": "later"}, part, "properties", "fieldOfALaterRelease")
	}
}
