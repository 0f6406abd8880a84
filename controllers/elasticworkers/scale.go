package elasticworkers

import (
	"context"
	"encoding/json"
	"fmt"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
)

// scales reads and writes scale subresources.
type scales interface {
	get(ctx context.Context, namespace string, target schedulingv1alpha1.ElasticWorkersTarget) (*autoscalingv1.Scale, error)
	// set changes the replicas of a scale that was read; it fails with a conflict where the target has changed since.
	set(ctx context.Context, target schedulingv1alpha1.ElasticWorkersTarget, read *autoscalingv1.Scale, replicas int32) error
}

// subresource reaches the scale subresource of any kind.
type subresource struct{ client client.Client }

func (s subresource) get(ctx context.Context, namespace string, target schedulingv1alpha1.ElasticWorkersTarget) (*autoscalingv1.Scale, error) {
	answer := &unstructured.Unstructured{}
	answer.SetAPIVersion("autoscaling/v1")
	answer.SetKind("Scale")
	if err := s.client.SubResource("scale").Get(ctx, named(namespace, target), answer); err != nil {
		return nil, err
	}
	scale := &autoscalingv1.Scale{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(answer.Object, scale); err != nil {
		return nil, fmt.Errorf("decode the scale of %s %q: %w", target.Kind, target.Name, err)
	}
	return scale, nil
}

func (s subresource) set(ctx context.Context, target schedulingv1alpha1.ElasticWorkersTarget, read *autoscalingv1.Scale, replicas int32) error {
	patch, err := json.Marshal(map[string]any{
		"metadata": map[string]any{"resourceVersion": read.ResourceVersion}, "spec": map[string]any{"replicas": replicas},
	})
	if err != nil {
		return fmt.Errorf("encode the scale of %s %q: %w", target.Kind, target.Name, err)
	}
	return s.client.SubResource("scale").Patch(ctx, named(read.Namespace, target), client.RawPatch(types.MergePatchType, patch), client.FieldOwner(fieldOwner))
}

// fieldOwner of all writes.
const fieldOwner = "koord-manager"

func named(namespace string, target schedulingv1alpha1.ElasticWorkersTarget) *unstructured.Unstructured {
	object := &unstructured.Unstructured{}
	object.SetAPIVersion(target.APIVersion)
	object.SetKind(target.Kind)
	object.SetNamespace(namespace)
	object.SetName(target.Name)
	return object
}
