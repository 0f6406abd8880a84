package koordlet

import (
	"strings"

	corev1 "k8s.io/api/core/v1"

	"koordinator.sh/koord/agent/diagnostics"
	"koordinator.sh/koord/agent/state"
	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/decision/nodeqos/nodefeature"
	"koordinator.sh/koord/decision/nodeqos/oomscore"
)

// tierResources are those of batch and mid pods.
var tierResources = []corev1.ResourceName{extension.BatchCPU, extension.BatchMemory, extension.MidCPU, extension.MidMemory}

// containerMetrics are of the containers that run, and have anything to report.
func (e *explainer) containerMetrics() []diagnostics.ContainerMetrics {
	scores, pressures := e.options.isOn(&nodefeature.OOMScoreAdj), e.options.isOn(&nodefeature.PSICollector)
	var out []diagnostics.ContainerMetrics
	for _, pod := range e.cluster.Pods() {
		if !pod.Running() {
			continue
		}
		for _, entry := range containersOf(pod) {
			if scores {
				if score := oomscore.Of(pod.Object.Annotations, entry.Name, 0); score.Source == oomscore.FromAnnotation {
					entry.OOMScore = &score.Value
				}
			}
			if pressures {
				_, id, _ := strings.Cut(entry.ID, "://")
				entry.Pressure = e.measurement.containerPressure(id)
			}
			if entry.Requests != nil || entry.Limits != nil || entry.OOMScore != nil || entry.Pressure != nil {
				out = append(out, entry)
			}
		}
	}
	return out
}

// containersOf a pod that run, with what they request and are limited to of the tiers.
func containersOf(pod *state.Pod) []diagnostics.ContainerMetrics {
	object := pod.Object
	var out []diagnostics.ContainerMetrics
	for _, part := range []struct {
		containers []corev1.Container
		statuses   []corev1.ContainerStatus
	}{{object.Spec.InitContainers, object.Status.InitContainerStatuses}, {object.Spec.Containers, object.Status.ContainerStatuses}} {
		for i := range part.statuses {
			status := &part.statuses[i]
			if status.State.Running == nil {
				continue
			}
			entry := diagnostics.ContainerMetrics{
				Namespace: object.Namespace, Pod: object.Name, UID: string(object.UID), Name: status.Name, ID: status.ContainerID,
			}
			for c := range part.containers {
				if part.containers[c].Name == status.Name {
					resources := &part.containers[c].Resources
					entry.Requests, entry.Limits = tiers(resources.Requests), tiers(resources.Limits)
				}
			}
			out = append(out, entry)
		}
	}
	return out
}

// tiers picks the resources of batch and mid pods, as Kubernetes counts them.
func tiers(list corev1.ResourceList) []diagnostics.ResourceMetrics {
	var out []diagnostics.ResourceMetrics
	for _, name := range tierResources {
		if quantity, has := list[name]; has {
			out = append(out, diagnostics.ResourceMetrics{Resource: string(name), Value: quantity.AsApproximateFloat64()})
		}
	}
	return out
}
