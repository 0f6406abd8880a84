package integration

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/restmapper"
	"sigs.k8s.io/yaml"
)

// resourceOf returns the API server's resource for an object, in the namespace default where it needs one.
func resourceOf(t *testing.T, object *unstructured.Unstructured) dynamic.ResourceInterface {
	t.Helper()
	mapper := restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(client.Discovery()))
	gvk := object.GroupVersionKind()
	mapping, err := mapper.RESTMapping(gvk.GroupKind(), gvk.Version)
	if err != nil {
		t.Fatal(err)
	}
	if mapping.Scope.Name() == meta.RESTScopeNameNamespace {
		object.SetNamespace("default")
		return dynamicClient.Resource(mapping.Resource).Namespace("default")
	}
	return dynamicClient.Resource(mapping.Resource)
}

func readObject(t *testing.T, path string) *unstructured.Unstructured {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	text, err := yaml.YAMLToJSON(data)
	if err != nil {
		t.Fatal(err)
	}
	object := &unstructured.Unstructured{}
	if err := object.UnmarshalJSON(text); err != nil {
		t.Fatal(err)
	}
	return object
}

func objects(t *testing.T, pattern string) []string {
	t.Helper()
	paths, err := filepath.Glob(pattern)
	if err != nil || len(paths) == 0 {
		t.Fatalf("no objects in %s: %v", pattern, err)
	}
	return paths
}

func TestEveryKindIsStoredWithUnknownFields(t *testing.T) {
	for _, path := range objects(t, "../../api/testdata/*.yaml") {
		t.Run(filepath.Base(path), func(t *testing.T) {
			want := readObject(t, path)
			resource := resourceOf(t, want)
			want.SetName("stored-" + want.GetName())
			unstructured.RemoveNestedField(want.Object, "status")
			// Its labels place an example among others, such as a quota below a parent, which admission asks for.
			want.SetLabels(nil)
			if err := unstructured.SetNestedField(want.Object, "kept", "spec", "fieldOfALaterVersion"); err != nil {
				t.Fatal(err)
			}
			got, err := resource.Create(t.Context(), want, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want.Object["spec"], got.Object["spec"]); diff != "" {
				t.Errorf("the API server changed the spec (-sent +stored):\n%s", diff)
			}
		})
	}
}

func TestBadObjectsAreRefused(t *testing.T) {
	for _, path := range objects(t, "../../api/testdata/refused/*.yaml") {
		t.Run(filepath.Base(path), func(t *testing.T) {
			object := readObject(t, path)
			_, err := resourceOf(t, object).Create(t.Context(), object, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
			if !apierrors.IsInvalid(err) {
				t.Errorf("want the API server to call it invalid, got %v", err)
			}
		})
	}
}
