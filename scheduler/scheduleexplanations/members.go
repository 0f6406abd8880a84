package scheduleexplanations

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	resourcehelper "k8s.io/component-helpers/resource"

	"koordinator.sh/koord/decision/core/podstate"
)

// find returns the pods of the subjects in order of their names: a pod of that name, or else the members of a gang or
// job. The scheduler does not watch finished pods, so what it does not know is looked for in the cluster.
func (c *Controller) find(ctx context.Context, subjects []types.NamespacedName) ([]*corev1.Pod, error) {
	if len(subjects) == 1 {
		if pod, err := c.pods.Lister().Pods(subjects[0].Namespace).Get(subjects[0].Name); err == nil {
			return []*corev1.Pod{pod}, nil
		}
	}
	found, err := c.watched(subjects)
	if err != nil || len(found) > 0 {
		return found, err
	}
	return c.finished(ctx, subjects)
}

// watched lists the members among the pods that the scheduler knows. Its informer has no index by namespace, and asking
// one question in a minute is not worth an index of all pods.
func (c *Controller) watched(subjects []types.NamespacedName) ([]*corev1.Pod, error) {
	pods, err := c.pods.Lister().List(labels.Everything())
	if err != nil {
		return nil, fmt.Errorf("list pods: %w", err)
	}
	var found []*corev1.Pod
	for _, pod := range pods {
		if belongs(pod, subjects) {
			found = append(found, pod)
		}
	}
	sortPods(found)
	return found, nil
}

func namespacesOf(subjects []types.NamespacedName) []string {
	var namespaces []string
	for _, subject := range subjects {
		if !slices.Contains(namespaces, subject.Namespace) {
			namespaces = append(namespaces, subject.Namespace)
		}
	}
	return namespaces
}

// finished asks the API server for members that have succeeded or failed.
func (c *Controller) finished(ctx context.Context, subjects []types.NamespacedName) ([]*corev1.Pod, error) {
	if len(subjects) == 1 {
		pod, err := c.client.CoreV1().Pods(subjects[0].Namespace).Get(ctx, subjects[0].Name, metav1.GetOptions{})
		if err == nil {
			return []*corev1.Pod{pod}, nil
		}
		if !apierrors.IsNotFound(err) {
			return nil, fmt.Errorf("get pod %s: %w", subjects[0], err)
		}
	}
	var found []*corev1.Pod
	for _, namespace := range namespacesOf(subjects) {
		// Resource version 0 is answered from the API server's memory.
		list, err := c.client.CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{ResourceVersion: "0"})
		if err != nil {
			return nil, fmt.Errorf("list the pods of namespace %q: %w", namespace, err)
		}
		for i := range list.Items {
			if belongs(&list.Items[i], subjects) {
				found = append(found, &list.Items[i])
			}
		}
	}
	sortPods(found)
	return found, nil
}

func sortPods(pods []*corev1.Pod) {
	slices.SortFunc(pods, func(a, b *corev1.Pod) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
}

// alike sorts pods that are still to be scheduled into groups that ask for the same, the largest first. One answer is
// enough for a group. Pods that have a node, or have finished, are settled.
func alike(pods []*corev1.Pod) (groups [][]*corev1.Pod, settled []*corev1.Pod) {
	index := map[string]int{}
	for _, pod := range pods {
		if isSettled(pod) {
			settled = append(settled, pod)
			continue
		}
		shape := shapeOf(pod)
		at, known := index[shape]
		if !known {
			at = len(groups)
			index[shape] = at
			groups = append(groups, nil)
		}
		groups[at] = append(groups[at], pod)
	}
	slices.SortStableFunc(groups, func(a, b []*corev1.Pod) int { return cmp.Compare(len(b), len(a)) })
	return groups, settled
}

func isSettled(pod *corev1.Pod) bool { return pod.Spec.NodeName != "" || podstate.Ended(pod) }

// shape is what plugins go by, without what differs from one replica to the next and does not matter.
type shape struct {
	Namespace, SchedulerName string
	Requests                 corev1.ResourceList
	Priority                 *int32
	NodeSelector             map[string]string
	Affinity                 *corev1.Affinity
	Tolerations              []corev1.Toleration
	Spread                   []corev1.TopologySpreadConstraint
	Gates                    []corev1.PodSchedulingGate
	Claims                   []corev1.PodResourceClaim
	Volumes                  []string
	Ports                    []corev1.ContainerPort
	Labels, Annotations      map[string]string
}

// shapeOf identifies what a pod asks of the scheduler; pods of one shape get one answer.
func shapeOf(pod *corev1.Pod) string {
	s := shape{
		Namespace: pod.Namespace, SchedulerName: pod.Spec.SchedulerName, Priority: pod.Spec.Priority,
		Requests:     resourcehelper.PodRequests(pod, resourcehelper.PodResourcesOptions{}),
		NodeSelector: pod.Spec.NodeSelector, Affinity: pod.Spec.Affinity, Tolerations: pod.Spec.Tolerations,
		Spread: pod.Spec.TopologySpreadConstraints, Gates: pod.Spec.SchedulingGates, Claims: pod.Spec.ResourceClaims,
		Labels: without(pod.Labels, isReplicaLabel), Annotations: without(pod.Annotations, isUnrelated),
	}
	for i := range pod.Spec.Volumes {
		if encoded, err := json.Marshal(pod.Spec.Volumes[i].VolumeSource); err == nil && bindsNode(&pod.Spec.Volumes[i]) {
			s.Volumes = append(s.Volumes, string(encoded))
		}
	}
	for _, containers := range [][]corev1.Container{pod.Spec.InitContainers, pod.Spec.Containers} {
		for i := range containers {
			s.Ports = append(s.Ports, containers[i].Ports...)
		}
	}
	encoded, err := json.Marshal(s)
	if err != nil {
		return string(pod.UID) // a kind that no other pod shares
	}
	return string(encoded)
}

// bindsNode is false for volumes that any node can have.
func bindsNode(volume *corev1.Volume) bool {
	return volume.EmptyDir == nil && volume.ConfigMap == nil && volume.Secret == nil && volume.Projected == nil && volume.DownwardAPI == nil
}

// isReplicaLabel is true for labels that number the replicas of a workload.
func isReplicaLabel(key string) bool {
	switch key {
	case "batch.kubernetes.io/job-completion-index", "apps.kubernetes.io/pod-index", "statefulset.kubernetes.io/pod-name":
		return true
	}
	return false
}

// isUnrelated is true for annotations that no scheduler plugin reads.
func isUnrelated(key string) bool { return !strings.Contains(key, "koordinator.sh/") }

func without(values map[string]string, dropped func(key string) bool) map[string]string {
	kept := map[string]string{}
	for key, value := range values {
		if !dropped(key) {
			kept[key] = value
		}
	}
	return kept
}

// fingerprint changes when the question or the pods it is about change in a way that can change the answer.
func fingerprint(generation int64, topologyKey string, pods []*corev1.Pod) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d\n%s\n", generation, topologyKey)
	for _, pod := range pods {
		fmt.Fprintf(&b, "%s %s %s %s\n", pod.UID, pod.Spec.NodeName, pod.Status.Phase, shapeOf(pod))
	}
	return b.String()
}
