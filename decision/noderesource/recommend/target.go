package recommend

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	analysisv1alpha1 "koordinator.sh/koord/api/analysis/v1alpha1"
)

// hashLabels are the labels with what a controller appends to the names of the ReplicaSets it makes.
var hashLabels = []string{"pod-template-hash", "rollouts-pod-template-hash"}

// Workload is a controller as a pod names it.
type Workload struct{ Kind, Name string }

// WorkloadsOf are the controllers a pod belongs to: the one that owns it, and the Deployment or Rollout behind a ReplicaSet,
// which is told by the ReplicaSet's name.
func WorkloadsOf(pod *corev1.Pod) []Workload {
	owner := metav1.GetControllerOf(pod)
	if owner == nil {
		return nil
	}
	out := []Workload{{owner.Kind, owner.Name}}
	if owner.Kind != "ReplicaSet" {
		return out
	}
	for i, label := range hashLabels {
		if hash := pod.Labels[label]; hash != "" {
			if name, ok := strings.CutSuffix(owner.Name, "-"+hash); ok && name != "" {
				out = append(out, Workload{[]string{"Deployment", "Rollout"}[i], name})
			}
		}
	}
	return out
}

// WorkloadOf is the controller of a target of type workload; false for others.
func WorkloadOf(target *analysisv1alpha1.RecommendationTarget) (Workload, bool) {
	if target.Type != analysisv1alpha1.RecommendationTargetWorkload || target.Workload == nil {
		return Workload{}, false
	}
	return Workload{target.Workload.Kind, target.Workload.Name}, true
}
