package diagnostics

import (
	"fmt"
	"slices"
	"strings"

	"koordinator.sh/koord/agent/executor"
	"koordinator.sh/koord/agent/host/cgroup"
	"koordinator.sh/koord/agent/qos"
	"koordinator.sh/koord/agent/state"
	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
)

// Place is where the cgroups of a pod are.
type Place struct {
	// Of is the pod, without what is set for it.
	Of diagnosticsv1alpha1.PodSettings
	// Pod is the cgroup of the pod, and Above those that hold it, the nearest last.
	Pod   string
	Above []string
	// Containers are names by cgroup.
	Containers map[string]string
}

// PlaceOf is the place of a pod with the containers of it that run.
func PlaceOf(layout cgroup.Layout, pod *state.Pod, containers []qos.Container) Place {
	place := Place{
		Of: diagnosticsv1alpha1.PodSettings{
			Namespace: pod.Object.Namespace, Name: pod.Object.Name, QoSClass: string(pod.QoS()), KubernetesQoSClass: pod.Class(),
		},
		Pod: layout.Pod(pod.Class(), pod.UID), Above: []string{layout.QoS(pod.Class())}, Containers: map[string]string{},
	}
	for _, container := range containers {
		place.Containers[container.Cgroup] = container.Name
	}
	return place
}

// AskedPod reports whether a question is about a pod; one that names none is about all.
func AskedPod(question *diagnosticsv1alpha1.AgentQuestion, namespace, name string) bool {
	return question.PodName == "" || question.PodName == name && question.PodNamespace == namespace
}

// UnknownPod says that the pod of a question is none of the agent's.
func UnknownPod(question *diagnosticsv1alpha1.AgentQuestion) string {
	return fmt.Sprintf("pod %s/%s is not known to koordlet: it is not bound to this node, or has terminated", question.PodNamespace, question.PodName)
}

// Pods lists what is set for the pods at some places, with what is in force right now.
func Pods(from *executor.Executor, places []Place) []diagnosticsv1alpha1.PodSettings {
	if len(places) == 0 {
		return nil
	}
	targets := from.Inspect(func(of string) bool {
		return slices.ContainsFunc(places, func(place Place) bool { return place.Asked(of) })
	})
	out := make([]diagnosticsv1alpha1.PodSettings, len(places))
	for i := range places {
		out[i] = places[i].Of
		out[i].Settings = places[i].Settings(targets)
	}
	return out
}

// Asked reports whether a cgroup is one of the pod's, or above it.
func (p *Place) Asked(of string) bool {
	return of == p.Pod || strings.HasPrefix(of, p.Pod+"/") || slices.Contains(p.Above, of)
}

// Settings are those of a pod among the targets: of what is above it, of itself, and of its containers.
func (p *Place) Settings(targets []executor.Target) []diagnosticsv1alpha1.CgroupSetting {
	var out []diagnosticsv1alpha1.CgroupSetting
	for i := range targets {
		target := &targets[i]
		if !p.Asked(target.Of) {
			continue
		}
		setting := diagnosticsv1alpha1.CgroupSetting{
			Container: p.Containers[target.Of], Cgroup: target.Of, Setting: target.Setting, Desired: target.Value, Effective: target.Effective,
			Matches: target.Err == nil && target.Effective == target.Value, Owner: target.Owner, Why: target.Why, Outranked: target.Outranked,
		}
		if target.Err != nil {
			setting.Error = target.Err.Error()
		}
		out = append(out, setting)
	}
	return out
}
