package drain

import (
	"fmt"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"koordinator.sh/koord/decision/core/podrequest"
)

// Flag of kubectl drain.
type Flag string

// The flags without which kubectl drain refuses to start when there are pods of a kind.
const (
	// IgnoreDaemonSets leaves pods of DaemonSets where they are.
	IgnoreDaemonSets Flag = "--ignore-daemonsets"
	// DeleteEmptyDirData evicts pods whose emptyDir volumes are lost.
	DeleteEmptyDirData Flag = "--delete-emptydir-data"
	// Force evicts pods that no controller creates again.
	Force Flag = "--force"
)

// Flags are all flags, in the order in which a command line has them.
func Flags() []Flag { return []Flag{IgnoreDaemonSets, DeleteEmptyDirData, Force} }

// Selected is a pod, and what kubectl drain does with it.
type Selected struct {
	Pod *corev1.Pod
	// Evict is true for a pod that is evicted, and false for one that stays.
	Evict bool
	// Flags without which kubectl drain refuses to start.
	Flags []Flag
	// Reason of the flags, or why the pod stays; empty for a pod that is simply evicted.
	Reason string
}

// Select says what kubectl drain does with a pod of a node, once it has the flags that it needs.
func Select(pod *corev1.Pod) Selected {
	selected := Selected{Pod: pod, Evict: true}
	if _, mirror := pod.Annotations[corev1.MirrorPodAnnotationKey]; mirror {
		selected.Evict, selected.Reason = false, "it is the mirror of a static pod"
		return selected
	}
	if !podrequest.Consumes(pod) {
		return selected // a pod that ended needs no flag
	}
	owner := metav1.GetControllerOfNoCopy(pod)
	if owner != nil && owner.Kind == "DaemonSet" && owner.APIVersion == appsv1.SchemeGroupVersion.String() {
		selected.Evict, selected.Flags = false, []Flag{IgnoreDaemonSets}
		selected.Reason = fmt.Sprintf("DaemonSet %s runs it on every node", owner.Name)
		return selected
	}
	var reasons []string
	for _, volume := range pod.Spec.Volumes {
		if volume.EmptyDir != nil {
			selected.Flags = append(selected.Flags, DeleteEmptyDirData)
			reasons = append(reasons, fmt.Sprintf("volume %s is an emptyDir, whose data is lost", volume.Name))
			break
		}
	}
	if owner == nil {
		selected.Flags = append(selected.Flags, Force)
		reasons = append(reasons, "no controller creates it again")
	}
	selected.Reason = strings.Join(reasons, "; ")
	return selected
}

// Returns reports whether a controller creates a pod again that is evicted, which then needs another node. A pod that ended or is being
// deleted has been replaced already, where it is.
func Returns(pod *corev1.Pod) bool {
	return podrequest.Consumes(pod) && pod.DeletionTimestamp == nil && metav1.GetControllerOfNoCopy(pod) != nil
}
