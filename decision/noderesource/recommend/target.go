package recommend

import (
	"regexp"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	analysisv1alpha1 "koordinator.sh/koord/api/analysis/v1alpha1"
)

// hashLabels are the labels with what a controller appends to the names of the ReplicaSets it makes.
var hashLabels = []string{"pod-template-hash", "rollouts-pod-template-hash"}

// scheduled are the names of Jobs that a CronJob makes: its own and the time, in minutes.
var scheduled = regexp.MustCompile(`^(.+)-\d{8,10}$`)

// Workload is a controller as a pod names it.
type Workload struct{ Kind, Name string }

// WorkloadsOf are the controllers a pod belongs to: the one that owns it, and the Deployment or Rollout behind a ReplicaSet or the CronJob
// behind a Job, which are told by the names of these.
func WorkloadsOf(pod *corev1.Pod) []Workload {
	owner := metav1.GetControllerOf(pod)
	if owner == nil {
		return nil
	}
	out := []Workload{{owner.Kind, owner.Name}}
	if name := scheduled.FindStringSubmatch(owner.Name); owner.Kind == "Job" && name != nil {
		out = append(out, Workload{"CronJob", name[1]})
	}
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
