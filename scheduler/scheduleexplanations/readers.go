package scheduleexplanations

import (
	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	schedulingsigsv1alpha1 "koordinator.sh/koord/api/schedulingsigs/v1alpha1"
	"koordinator.sh/koord/decision/core/disclosure"
)

// readersOf is what the readers of an object are assumed to have access to, nil for everything. An object has no caller: all users with
// the right to get it see the same. In the system namespace these are cluster administrators; in all others they are users of the
// namespace, who see its pods, quotas and gangs, and change its pods.
func readersOf(object *schedulingv1alpha1.ScheduleExplanation, systemNamespace string) disclosure.Access {
	if object.Namespace == systemNamespace {
		return nil
	}
	quotas := schedulingsigsv1alpha1.GroupVersion.Group
	return func(asked disclosure.Request) bool {
		switch {
		case asked.Namespace != object.Namespace:
			return false
		case asked.Group == "" && asked.Resource == "pods":
			return true
		}
		return asked.Verb == "get" && asked.Group == quotas && (asked.Resource == "elasticquotas" || asked.Resource == "podgroups")
	}
}

// toldOf returns the part of an answer that readers may see.
func toldOf(status *diagnosticsv1alpha1.PodExplanationStatus, readers disclosure.Access) *diagnosticsv1alpha1.PodExplanationStatus {
	if readers == nil {
		return status
	}
	told := status.DeepCopy()
	disclosure.PodExplanation(told, readers)
	return told
}
