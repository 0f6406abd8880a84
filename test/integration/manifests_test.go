package integration

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/restmapper"
	"sigs.k8s.io/yaml"
)

// apply writes the objects of a YAML text, one after the other, as kubectl apply --server-side does, and then what they say
// of their status. The end of the test deletes them.
func apply(t *testing.T, text string) {
	t.Helper()
	groups, err := restmapper.GetAPIGroupResources(client.Discovery())
	if err != nil {
		t.Fatal(err)
	}
	mapper := restmapper.NewDiscoveryRESTMapper(groups)
	for document := range strings.SplitSeq(text, "\n---\n") {
		object := &unstructured.Unstructured{}
		if err := yaml.UnmarshalStrict([]byte(document), &object.Object); err != nil {
			t.Fatalf("%v in\n%s", err, document)
		}
		if err := applyOne(t, mapper, object); err != nil {
			t.Fatalf("apply %s %s: %v", object.GetKind(), object.GetName(), err)
		}
	}
}

func applyOne(t *testing.T, mapper meta.RESTMapper, object *unstructured.Unstructured) error {
	kind := object.GroupVersionKind()
	mapping, err := mapper.RESTMapping(kind.GroupKind(), kind.Version)
	if err != nil {
		return err
	}
	var objects dynamic.ResourceInterface = dynamicClient.Resource(mapping.Resource)
	if mapping.Scope.Name() == meta.RESTScopeNameNamespace {
		objects = dynamicClient.Resource(mapping.Resource).Namespace(object.GetNamespace())
	}
	options := metav1.ApplyOptions{FieldManager: "integration", Force: true}
	if err := persist(t.Context(), func() error {
		_, err := objects.Apply(t.Context(), object.GetName(), object, options)
		return err
	}); err != nil {
		return err
	}
	t.Cleanup(func() {
		err := persist(context.Background(), func() error {
			return objects.Delete(context.Background(), object.GetName(), metav1.DeleteOptions{GracePeriodSeconds: new(int64(0))})
		})
		if err != nil && !apierrors.IsNotFound(err) {
			t.Error(err)
		}
	})
	if object.Object["status"] == nil {
		return nil
	}
	_, err = objects.ApplyStatus(t.Context(), object.GetName(), object, options)
	return err
}

// colocate puts strategies for nodes before those of colocation-config, for the time of the test, and returns the whole.
func colocate(t *testing.T, strategies ...map[string]any) string {
	t.Helper()
	var current map[string]any
	if err := json.Unmarshal([]byte(keepConfiguration(t)["colocation-config"]), &current); err != nil {
		t.Fatal(err)
	}
	var all []any
	for _, strategy := range strategies {
		all = append(all, strategy)
	}
	there, _ := current["nodeConfigs"].([]any)
	current["nodeConfigs"] = append(all, there...)
	text, err := json.Marshal(current)
	if err != nil {
		t.Fatal(err)
	}
	if err := editConfiguration(t.Context(), map[string]string{"colocation-config": string(text)}); err != nil {
		t.Fatal(err)
	}
	return string(text)
}
