package recommender

import (
	"context"
	"fmt"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"koordinator.sh/koord/decision/noderesource/recommend"
)

// verticals is the kind of the list of VerticalPodAutoscalers, which a cluster does not need to know.
var verticals = schema.GroupVersionKind{Group: recommend.VerticalGroup, Version: recommend.VerticalVersion, Kind: recommend.KindVertical + "List"}

// autoscalers of a namespace, which are read once in a pass: there are few, and nothing else needs them in a cache. The API server answers
// from what it watches.
func (r *reconciler) autoscalers(ctx context.Context, namespace string) (recommend.Autoscalers, error) {
	if found, read := r.found[namespace]; read {
		return found, nil
	}
	watched := func() *client.ListOptions { return &client.ListOptions{Raw: &metav1.ListOptions{ResourceVersion: "0"}} }
	out := recommend.Autoscalers{}
	var horizontal autoscalingv2.HorizontalPodAutoscalerList
	if err := r.live.List(ctx, &horizontal, watched(), client.InNamespace(namespace)); err != nil {
		return nil, fmt.Errorf("list horizontalpodautoscalers in namespace %q: %w", namespace, err)
	}
	for i := range horizontal.Items {
		out.AddHorizontal(&horizontal.Items[i])
	}
	var vertical unstructured.UnstructuredList
	vertical.SetGroupVersionKind(verticals)
	err := r.live.List(ctx, &vertical, watched(), client.InNamespace(namespace))
	if err != nil && !meta.IsNoMatchError(err) && !apierrors.IsNotFound(err) {
		return nil, fmt.Errorf("list verticalpodautoscalers in namespace %q: %w", namespace, err)
	}
	for i := range vertical.Items {
		var each recommend.VerticalAutoscaler
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(vertical.Items[i].Object, &each); err != nil {
			return nil, fmt.Errorf("read verticalpodautoscaler %q in namespace %q: %w", vertical.Items[i].GetName(), namespace, err)
		}
		out.AddVertical(&each)
	}
	r.found[namespace] = out
	return out, nil
}
