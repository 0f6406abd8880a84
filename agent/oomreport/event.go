package oomreport

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"koordinator.sh/koord/api/extension"
)

const (
	// Reason of the events.
	Reason = "OOMKilling"
	// Action of the events, by which the chart's policy admits them.
	Action = "ReportOOMKill"
)

// container of a pod.
type container struct {
	name string
	// field of the pod's spec that lists it.
	field  string
	limits corev1.ResourceList
}

// containerOf returns the container that has, or before its latest restart had, an ID.
func containerOf(pod *corev1.Pod, id string) (container, bool) {
	return findContainer(pod, func(status *corev1.ContainerStatus) bool {
		return hasID(status.ContainerID, id) || status.State.Terminated != nil && hasID(status.State.Terminated.ContainerID, id) ||
			status.LastTerminationState.Terminated != nil && hasID(status.LastTerminationState.Terminated.ContainerID, id)
	})
}

// hasID reports whether an ID with the name of its runtime, such as containerd://ID, is one.
func hasID(withRuntime, id string) bool {
	_, has, found := strings.Cut(withRuntime, "://")
	return found && has == id
}

// findContainer returns the first container with a status that is wanted.
func findContainer(pod *corev1.Pod, wanted func(*corev1.ContainerStatus) bool) (container, bool) {
	for _, part := range []struct {
		field      string
		statuses   []corev1.ContainerStatus
		containers []corev1.Container
	}{
		{"initContainers", pod.Status.InitContainerStatuses, pod.Spec.InitContainers},
		{"containers", pod.Status.ContainerStatuses, pod.Spec.Containers},
		{"ephemeralContainers", pod.Status.EphemeralContainerStatuses, nil},
	} {
		for i := range part.statuses {
			if !wanted(&part.statuses[i]) {
				continue
			}
			out := container{name: part.statuses[i].Name, field: part.field}
			if at := slices.IndexFunc(part.containers, func(c corev1.Container) bool { return c.Name == out.name }); at >= 0 {
				out.limits = part.containers[at].Resources.Limits
			}
			return out, true
		}
	}
	return container{}, false
}

// record records an event on a pod, or on a container of it as kubelet does.
func (r *Reporter) record(pod *corev1.Pod, name string, processes int64) {
	regarding := &corev1.ObjectReference{APIVersion: "v1", Kind: "Pod", Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID}
	killed, where := fmt.Sprintf("%d processes", processes), "the pod"
	if processes == 1 {
		killed = "1 process"
	}
	if of, found := findContainer(pod, func(status *corev1.ContainerStatus) bool { return status.Name == name }); found {
		regarding.FieldPath = fmt.Sprintf("spec.%s{%s}", of.field, name)
		where = fmt.Sprintf("container %q (%s)", name, limitOf(of.limits))
	}
	r.options.Events.Eventf(regarding, nil, corev1.EventTypeWarning, Reason, Action, "Out of memory: kernel killed %s in %s", killed, where)
}

// limitOf is a container's limit of memory, in words.
func limitOf(limits corev1.ResourceList) string {
	for _, name := range []corev1.ResourceName{corev1.ResourceMemory, extension.BatchMemory, extension.MidMemory} {
		if limit, limited := limits[name]; limited {
			return fmt.Sprintf("%s limit %s", name, limit.String())
		}
	}
	return "no memory limit"
}
