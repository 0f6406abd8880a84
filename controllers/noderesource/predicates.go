package noderesource

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"koordinator.sh/koord/api/extension"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	"koordinator.sh/koord/decision/core/podrequest"
	"koordinator.sh/koord/decision/noderesource/deviceresource"
	"koordinator.sh/koord/decision/noderesource/overcommit"
)

// nodeMatters passes node updates that can change the offer, or that changed what is published: a kubelet resets it when it restarts.
// Heartbeats pass neither.
func nodeMatters() predicate.Predicate {
	names := slices.Concat(overcommit.Resources(), deviceresource.Resources(), []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory})
	same := func(a, b corev1.ResourceList) bool {
		for _, name := range names {
			x, hasX := a[name]
			y, hasY := b[name]
			if hasX != hasY || x.Cmp(y) != 0 {
				return false
			}
		}
		return true
	}
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		before, ok := e.ObjectOld.(*corev1.Node)
		after, ok2 := e.ObjectNew.(*corev1.Node)
		if !ok || !ok2 {
			return true
		}
		return !maps.Equal(before.Labels, after.Labels) || !maps.Equal(before.Annotations, after.Annotations) ||
			!same(before.Status.Capacity, after.Status.Capacity) || !same(before.Status.Allocatable, after.Status.Allocatable)
	}}
}

// metricMatters passes reports, and NodeMetrics that come and go.
func metricMatters() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		before, ok := e.ObjectOld.(*slov1alpha1.NodeMetric)
		after, ok2 := e.ObjectNew.(*slov1alpha1.NodeMetric)
		return !ok || !ok2 || !equality.Semantic.DeepEqual(before.Status, after.Status)
	}}
}

// topologyMatters passes reports of another cpu.
func topologyMatters() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		return e.ObjectOld.GetAnnotations()[extension.AnnotationCPUBasicInfo] != e.ObjectNew.GetAnnotations()[extension.AnnotationCPUBasicInfo]
	}}
}

// deviceMatters passes Devices whose devices or labels changed.
func deviceMatters() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		before, ok := e.ObjectOld.(*schedulingv1alpha1.Device)
		after, ok2 := e.ObjectNew.(*schedulingv1alpha1.Device)
		return !ok || !ok2 || !maps.Equal(before.Labels, after.Labels) || !equality.Semantic.DeepEqual(before.Spec, after.Spec)
	}}
}

// podMatters passes pods that have a node and whose share of it changed.
func podMatters() predicate.Predicate {
	bound := func(object client.Object) bool { return len(indexByNode(object)) > 0 }
	return predicate.Funcs{
		CreateFunc: func(e event.CreateEvent) bool { return bound(e.Object) },
		DeleteFunc: func(e event.DeleteEvent) bool { return bound(e.Object) },
		UpdateFunc: func(e event.UpdateEvent) bool {
			before, ok := e.ObjectOld.(*corev1.Pod)
			after, ok2 := e.ObjectNew.(*corev1.Pod)
			if !ok || !ok2 {
				return true
			}
			if after.Spec.NodeName == "" {
				return false
			}
			return before.Spec.NodeName != after.Spec.NodeName || podrequest.Consumes(before) != podrequest.Consumes(after) ||
				podrequest.Of(before) != podrequest.Of(after)
		},
	}
}
