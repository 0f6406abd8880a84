package evictability

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"koordinator.sh/koord/api/extension"
)

// systemCriticalPriority is that of the priority class system-cluster-critical, and the lowest that only the system has.
const systemCriticalPriority int32 = 2000000000

// Where the kubelet got a pod from, which it writes on all but those from the API server, and on their mirrors.
const (
	annotationConfigSource = "kubernetes.io/config.source"
	configSourceAPI        = "api"
)

// inProgressHere is the value of the annotation eviction-in-progress of pods that koord-descheduler moves.
const inProgressHere = "koord-descheduler"

func static(in *Input) string {
	if _, mirror := in.Pod.Annotations[corev1.MirrorPodAnnotationKey]; mirror {
		return "it is the mirror of a static pod, which the kubelet creates again on the same node"
	}
	if source := in.Pod.Annotations[annotationConfigSource]; source != "" && source != configSourceAPI {
		return fmt.Sprintf("it is a static pod, which the kubelet reads from %s", source)
	}
	return ""
}

func terminating(in *Input) string {
	if at := in.Pod.DeletionTimestamp; at != nil {
		return fmt.Sprintf("it is being deleted since %s", at.UTC().Format("2006-01-02T15:04:05Z"))
	}
	by, marked := in.Pod.Annotations[extension.AnnotationEvictionInProgress]
	_, background := in.Pod.Annotations[extension.AnnotationRequestEvictOnly]
	if marked && background && by != inProgressHere {
		return fmt.Sprintf("it is being evicted in the background, by %q", by)
	}
	return ""
}

func cost(in *Input) string {
	// An invalid cost counts as 0: it orders the pod and protects nothing.
	if value, err := extension.EvictionCost(in.Pod.Annotations); err == nil && value == extension.EvictionCostNever {
		return fmt.Sprintf("its annotation %s is %d, which excludes it from migration", extension.AnnotationEvictionCost, value)
	}
	return ""
}

func loop(in *Input) string {
	if in.Loop == nil {
		return ""
	}
	return in.Loop.Refusal()
}

func noEviction(in *Input) string {
	if _, found := in.Pod.Annotations[extension.AnnotationPreferNoEviction]; found && in.Policy.MandatoryNoEviction {
		return fmt.Sprintf("it has the annotation %s, and noEvictionPolicy is Mandatory", extension.AnnotationPreferNoEviction)
	}
	return ""
}

func daemonSet(in *Input) string {
	if owner := metav1.GetControllerOfNoCopy(in.Pod); owner != nil && owner.Kind == "DaemonSet" {
		return fmt.Sprintf("DaemonSet %s creates it again on the same node", owner.Name)
	}
	return ""
}

func bare(in *Input) string {
	switch {
	case in.Policy.EvictAllBarePods || len(in.Pod.OwnerReferences) > 0:
		return ""
	case !in.Policy.EvictFailedBarePods:
		return "it has no owner that would create it again, and evictAllBarePods is false"
	case in.Pod.Status.Phase != corev1.PodFailed:
		return fmt.Sprintf("it has no owner that would create it again and is %s; evictFailedBarePods allows failed ones only", phaseOf(in.Pod))
	}
	return ""
}

func phaseOf(pod *corev1.Pod) string {
	if pod.Status.Phase == "" {
		return "of unknown phase"
	}
	return strings.ToLower(string(pod.Status.Phase))
}

func localStorage(in *Input) string {
	if in.Policy.EvictLocalStoragePods {
		return ""
	}
	var volumes []string
	for _, volume := range in.Pod.Spec.Volumes {
		switch {
		case volume.EmptyDir != nil:
			volumes = append(volumes, "emptyDir "+volume.Name)
		case volume.HostPath != nil:
			volumes = append(volumes, fmt.Sprintf("hostPath %s (%s)", volume.Name, volume.HostPath.Path))
		}
	}
	if len(volumes) == 0 {
		return ""
	}
	return fmt.Sprintf("it has local storage: %s, and evictLocalStoragePods is false", strings.Join(volumes, ", "))
}

func systemCritical(in *Input) string {
	priority := priorityOf(in.Pod)
	if in.Policy.EvictSystemCriticalPods || priority < systemCriticalPriority {
		return ""
	}
	return fmt.Sprintf("its priority %d is system-critical, from %d on, and evictSystemCriticalPods is false", priority, systemCriticalPriority)
}

func priorityThreshold(in *Input) string {
	threshold, priority := in.Policy.PriorityThreshold, priorityOf(in.Pod)
	if in.Policy.EvictSystemCriticalPods || threshold == nil || priority < *threshold {
		return ""
	}
	return fmt.Sprintf("its priority %d is not below the priorityThreshold %d", priority, *threshold)
}

func priorityOf(pod *corev1.Pod) int32 {
	if pod.Spec.Priority == nil {
		return 0
	}
	return *pod.Spec.Priority
}

func claims(in *Input) string {
	if !in.Policy.IgnorePVCPods {
		return ""
	}
	var names []string
	for _, volume := range in.Pod.Spec.Volumes {
		if volume.PersistentVolumeClaim != nil {
			names = append(names, volume.PersistentVolumeClaim.ClaimName)
		}
	}
	if len(names) == 0 {
		return ""
	}
	return fmt.Sprintf("it uses the persistent volume claims %s, and ignorePvcPods is true", strings.Join(names, ", "))
}

func selected(in *Input) string {
	if selector := in.Policy.LabelSelector; selector != nil && !selector.Matches(labels.Set(in.Pod.Labels)) {
		return fmt.Sprintf("its labels do not match the labelSelector %s", selector)
	}
	return ""
}

func namespaces(in *Input) string {
	included, excluded := in.Policy.IncludedNamespaces, in.Policy.ExcludedNamespaces
	switch namespace := in.Pod.Namespace; {
	case slices.Contains(excluded, namespace):
		return fmt.Sprintf("its namespace %s is excluded", namespace)
	case len(included) > 0 && !slices.Contains(included, namespace):
		return fmt.Sprintf("its namespace %s is not among the included ones: %s", namespace, strings.Join(included, ", "))
	}
	return ""
}
