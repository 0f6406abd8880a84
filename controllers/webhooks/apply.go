package webhooks

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// apply writes an object by server-side apply. What it does not say of its metadata belongs to others. Of the field that decides what is
// let through, spec or webhooks, nothing does: apply leaves what somebody else added, such as a condition that is never true, so that
// the field is then replaced as a whole.
func (r *registrar) apply(ctx context.Context, object client.Object) error {
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	if err != nil {
		return fmt.Errorf("encode %s: %w", object.GetName(), err)
	}
	unstructured.RemoveNestedField(content, "metadata", "creationTimestamp")
	unstructured.RemoveNestedField(content, "status")
	decides := "spec"
	if _, has := content[decides]; !has {
		decides = "webhooks"
	}
	want, err := json.Marshal(content[decides])
	if err != nil {
		return fmt.Errorf("encode %s: %w", object.GetName(), err)
	}
	written := &unstructured.Unstructured{Object: content}
	configuration := client.ApplyConfigurationFromUnstructured(written)
	if err := r.client.Apply(ctx, configuration, client.FieldOwner(fieldManager), client.ForceOwnership); err != nil {
		return fmt.Errorf("apply %s %q: %w", object.GetObjectKind().GroupVersionKind().Kind, object.GetName(), err)
	}
	if got, err := json.Marshal(written.Object[decides]); err != nil || bytes.Equal(got, want) {
		return err
	}
	return r.replace(ctx, written, decides, want)
}

// replace gives a field of an object its value, to the letter.
func (r *registrar) replace(ctx context.Context, object client.Object, field string, value json.RawMessage) error {
	type operation struct {
		Op    string `json:"op"`
		Path  string `json:"path"`
		Value any    `json:"value"`
	}
	patch, err := json.Marshal([]operation{{"test", "/metadata/uid", object.GetUID()}, {"add", "/" + field, value}})
	if err != nil {
		return fmt.Errorf("encode %s: %w", object.GetName(), err)
	}
	if err := r.client.Patch(ctx, object, client.RawPatch(types.JSONPatchType, patch), client.FieldOwner(fieldManager)); err != nil {
		return fmt.Errorf("replace %s of %s %q: %w", field, object.GetObjectKind().GroupVersionKind().Kind, object.GetName(), err)
	}
	return nil
}
