package podcache

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// normal are the conditions that are true for every pod that runs. They take 480 bytes a pod, and of the plugins only PodLifeTime reads
// them, where it selects by conditions.
var normal = []corev1.PodConditionType{corev1.PodReadyToStartContainers, corev1.PodInitialized, corev1.ContainersReady, corev1.PodScheduled}

// Normal says whether a selector of conditions selects such as are true for every pod that runs. An empty type or status is any.
func Normal(kind corev1.PodConditionType, status corev1.ConditionStatus) bool {
	return (kind == "" || slices.Contains(normal, kind)) && (status == "" || status == corev1.ConditionTrue)
}

func trimConditions(conditions []corev1.PodCondition, keepNormal bool) []corev1.PodCondition {
	if !keepNormal {
		conditions = slices.DeleteFunc(conditions, func(condition corev1.PodCondition) bool {
			return Normal(condition.Type, condition.Status)
		})
	}
	for i := range conditions {
		conditions[i].Message = ""
	}
	return exact(conditions)
}
