package release

import (
	"context"
	"fmt"
	"reflect"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
)

func changeOf(object *unstructured.Unstructured, action Action, note string) Change {
	return Change{
		APIVersion: object.GetAPIVersion(), Kind: object.GetKind(),
		Namespace: object.GetNamespace(), Name: object.GetName(),
		Action: action, Note: note,
	}
}

// Creation is the change that makes an object.
func Creation(object *unstructured.Unstructured) Change { return changeOf(object, Created, "") }

// key identifies an object whatever happens to it.
func (c Change) key() Change {
	c.Action, c.Note = "", ""
	return c
}

// preview says what replacing the current manifest by the next one would change. Each object that exists is applied in the
// API server's dry-run mode, so defaults, admission and field ownership are judged by the server.
func (s *session) preview(ctx context.Context, current, next string) ([]Change, error) {
	nextObjects, err := decodeManifest([]byte(next))
	if err != nil {
		return nil, fmt.Errorf("read the next manifest: %w", err)
	}
	currentObjects, err := decodeManifest([]byte(current))
	if err != nil {
		return nil, fmt.Errorf("read the current manifest: %w", err)
	}
	var changes []Change
	staying := map[Change]bool{}
	for _, object := range nextObjects {
		change, err := s.previewObject(ctx, object)
		if err != nil {
			return changes, err
		}
		staying[change.key()] = true
		changes = append(changes, change)
	}
	for _, object := range currentObjects {
		if change := changeOf(object, Deleted, ""); !staying[change.key()] {
			changes = append(changes, change)
		}
	}
	return changes, nil
}

func (s *session) previewObject(ctx context.Context, object *unstructured.Unstructured) (Change, error) {
	change := changeOf(object, Created, "")
	client, err := s.resource(object)
	if err != nil {
		return change, err
	}
	live, err := client.Get(ctx, object.GetName(), metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return change, nil
	}
	if err != nil {
		return change, fmt.Errorf("get %s %q: %w", object.GetKind(), object.GetName(), err)
	}
	s.markOwned(object)
	applied, err := client.Apply(ctx, object.GetName(), object, metav1.ApplyOptions{
		FieldManager: fieldManager, Force: s.options.ForceConflicts, DryRun: []string{metav1.DryRunAll},
	})
	if err != nil {
		return change, fmt.Errorf("apply %s %q (dry run): %w", object.GetKind(), object.GetName(), err)
	}
	change.Action = Configured
	if sameObject(live, applied) {
		change.Action = Unchanged
	}
	return change, nil
}

// markOwned adds what Helm adds to each object of a release, without which every object would differ from the live one.
func (s *session) markOwned(object *unstructured.Unstructured) {
	annotations, labels := object.GetAnnotations(), object.GetLabels()
	if annotations == nil {
		annotations = map[string]string{}
	}
	if labels == nil {
		labels = map[string]string{}
	}
	annotations[ownerRelease], annotations[ownerNamespace] = s.options.ReleaseName, s.options.Namespace
	labels["app.kubernetes.io/managed-by"] = "Helm"
	object.SetAnnotations(annotations)
	object.SetLabels(labels)
}

// resource returns the client of an object's kind and namespace.
func (s *session) resource(object *unstructured.Unstructured) (dynamic.ResourceInterface, error) {
	kind := object.GroupVersionKind()
	mapping, err := s.mapper.RESTMapping(kind.GroupKind(), kind.Version)
	if err != nil {
		return nil, fmt.Errorf("find the resource of %s %q: %w", kind.Kind, object.GetName(), err)
	}
	if mapping.Scope.Name() == meta.RESTScopeNameNamespace {
		return s.dynamic.Resource(mapping.Resource).Namespace(object.GetNamespace()), nil
	}
	return s.dynamic.Resource(mapping.Resource), nil
}

// sameObject compares two states of an object without what the API server keeps about every write.
func sameObject(a, b *unstructured.Unstructured) bool {
	return reflect.DeepEqual(essence(a), essence(b))
}

func essence(object *unstructured.Unstructured) map[string]any {
	result := object.DeepCopy()
	result.SetManagedFields(nil)
	result.SetResourceVersion("")
	result.SetGeneration(0)
	return result.Object
}
