package scheduleexplanations

import (
	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	schedulingsigsv1alpha1 "koordinator.sh/koord/api/schedulingsigs/v1alpha1"
	"koordinator.sh/koord/decision/core/disclosure"
)

// readersOf is what the readers of an object are taken to have access to, nil for everything. An object has no caller: whoever may get it
// is told the same. In the system namespace that are people who run the cluster; in all others it is people of the namespace, who see its
// pods, quotas and gangs, and change its pods.
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

// toldOf is what readers are told of an answer.
func toldOf(status *diagnosticsv1alpha1.PodExplanationStatus, readers disclosure.Access) *diagnosticsv1alpha1.PodExplanationStatus {
	if readers == nil {
		return status
	}
	told := status.DeepCopy()
	disclosure.PodExplanation(told, readers)
	return told
}
