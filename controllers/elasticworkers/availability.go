package elasticworkers

import (
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
)

// availability passes on nodes that come, go, are lost or are cordoned; what they offer is looked at in each pass anyway.
type availability struct{ predicate.Funcs }

// Update compares what matters.
func (availability) Update(e event.UpdateEvent) bool {
	old, isNode := e.ObjectOld.(*corev1.Node)
	now, stillNode := e.ObjectNew.(*corev1.Node)
	return isNode && stillNode && (old.Spec.Unschedulable != now.Spec.Unschedulable || readiness(old) != readiness(now))
}

func readiness(node *corev1.Node) corev1.ConditionStatus {
	for _, condition := range node.Status.Conditions {
		if condition.Type == corev1.NodeReady {
			return condition.Status
		}
	}
	return corev1.ConditionUnknown
}
