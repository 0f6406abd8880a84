package rebalance

import (
	"context"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"koordinator.sh/koord/decision/descheduling/rebalance"
)

// target of an autoscaler in a namespace.
type target struct{ kind, name string }

// frozen says whether a controller that is at rest is left alone all the same, because an autoscaler removes pods of it.
func (w *workloads) frozen(ctx context.Context, namespace, kind, name string) rebalance.Freeze {
	targets, read := w.scaledDown[namespace]
	if !read {
		targets = w.targets(ctx, namespace)
		w.scaledDown[namespace] = targets
	}
	if targets[target{kind, name}] {
		return rebalance.ScaleDown
	}
	return ""
}

// targets of the autoscalers of a namespace that remove pods. Where they cannot be read, controllers alone say whether pods go.
func (w *workloads) targets(ctx context.Context, namespace string) map[target]bool {
	var list autoscalingv2.HorizontalPodAutoscalerList
	if err := w.client.List(ctx, &list, client.InNamespace(namespace), client.UnsafeDisableDeepCopy); err != nil {
		klog.FromContext(ctx).Error(err, "Cannot list HorizontalPodAutoscalers", "namespace", namespace)
		return nil
	}
	out := map[target]bool{}
	for i := range list.Items {
		if by := &list.Items[i]; rebalance.ScalesDown(by) {
			out[target{by.Spec.ScaleTargetRef.Kind, by.Spec.ScaleTargetRef.Name}] = true
		}
	}
	return out
}
