package recommend

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"

	"koordinator.sh/koord/decision/core/podresize"
)

// Kinds of autoscalers.
const (
	KindHorizontal = "HorizontalPodAutoscaler"
	KindVertical   = "VerticalPodAutoscaler"
)

// Autoscaler is one that sets what the pods of a workload request, or scales the workload by what they use of it.
type Autoscaler struct {
	Kind, Name string
	// Resources of containers by name; those of "" are of all containers that are not named.
	Resources map[string][]corev1.ResourceName
}

// Autoscalers of a namespace, by their targets.
type Autoscalers map[Workload][]Autoscaler

// Hold is an autoscaler with the resources that are left to it.
type Hold struct {
	Kind, Name string
	Resources  []corev1.ResourceName
}

// String is the reason to leave these resources as they are.
func (h Hold) String() string {
	names := make([]string, len(h.Resources))
	for i, name := range h.Resources {
		names[i] = string(name)
	}
	resources := strings.Join(names, " and ")
	if h.Kind == KindVertical {
		return fmt.Sprintf("%s %q sets %s", h.Kind, h.Name, resources)
	}
	return fmt.Sprintf("%s %q scales by the utilization of %s, which is relative to requests", h.Kind, h.Name, resources)
}

// AddHorizontal adds a HorizontalPodAutoscaler. It holds the resources whose utilization it is to keep: with other requests, the same usage
// is another utilization, and it would scale for no reason. Metrics that requests do not change hold nothing.
func (a Autoscalers) AddHorizontal(h *autoscalingv2.HorizontalPodAutoscaler) {
	var ofPod []corev1.ResourceName
	resources := map[string][]corev1.ResourceName{}
	for i := range h.Spec.Metrics {
		switch m := &h.Spec.Metrics[i]; {
		case m.Resource != nil && m.Resource.Target.Type == autoscalingv2.UtilizationMetricType:
			ofPod = append(ofPod, m.Resource.Name)
		case m.ContainerResource != nil && m.ContainerResource.Target.Type == autoscalingv2.UtilizationMetricType:
			resources[m.ContainerResource.Container] = append(resources[m.ContainerResource.Container], m.ContainerResource.Name)
		}
	}
	for container := range resources {
		resources[container] = append(resources[container], ofPod...)
	}
	resources[""] = ofPod
	target := Workload{h.Spec.ScaleTargetRef.Kind, h.Spec.ScaleTargetRef.Name}
	a[target] = append(a[target], Autoscaler{KindHorizontal, h.Name, resources})
}

// AddVertical adds a VerticalPodAutoscaler. It holds the resources that it sets, be it when pods are created or while they run.
func (a Autoscalers) AddVertical(v *VerticalAutoscaler) {
	if v.Spec.TargetRef == nil {
		return
	}
	off := v.Spec.UpdatePolicy != nil && v.Spec.UpdatePolicy.UpdateMode == verticalOff
	resources := map[string][]corev1.ResourceName{"": v.Spec.sets(off, nil)}
	if policies := v.Spec.ResourcePolicy; policies != nil {
		for i := range policies.ContainerPolicies {
			policy := &policies.ContainerPolicies[i]
			container := policy.ContainerName
			if container == allContainers {
				container = ""
			}
			resources[container] = v.Spec.sets(off, policy)
		}
	}
	target := Workload{v.Spec.TargetRef.Kind, v.Spec.TargetRef.Name}
	a[target] = append(a[target], Autoscaler{KindVertical, v.Name, resources})
}

// of a pod are the autoscalers of its workloads.
func (a Autoscalers) of(pod *corev1.Pod) []Autoscaler {
	if len(a) == 0 {
		return nil
	}
	var out []Autoscaler
	for _, workload := range WorkloadsOf(pod) {
		out = append(out, a[workload]...)
	}
	return out
}

// holds says whether a resource of a container is left to the autoscaler.
func (a *Autoscaler) holds(container string, name corev1.ResourceName) bool {
	resources, named := a.Resources[container]
	if !named {
		resources = a.Resources[""]
	}
	return slices.Contains(resources, name)
}

// holderOf a resource of a container is the first autoscaler that holds it, or nil: one that sets it before one that scales by it.
func holderOf(autoscalers []Autoscaler, container string, name corev1.ResourceName) *Autoscaler {
	var found *Autoscaler
	for i := range autoscalers {
		if each := &autoscalers[i]; each.holds(container, name) && (found == nil || found.Kind != KindVertical && each.Kind == KindVertical) {
			found = each
		}
	}
	return found
}

// Holds of pods are the resources that their containers request and that are left to autoscalers.
func (a Autoscalers) Holds(pods []*corev1.Pod) []Hold {
	var out holds
	for _, pod := range pods {
		autoscalers := a.of(pod)
		for _, c := range podresize.Containers(pod) {
			for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
				if _, requested := c.Resources.Requests[name]; requested {
					out.add(holderOf(autoscalers, c.Name, name), name)
				}
			}
		}
	}
	return out.sorted()
}

// holds collects what is left to autoscalers.
type holds []Hold

func (h *holds) add(by *Autoscaler, name corev1.ResourceName) {
	if by == nil {
		return
	}
	at := slices.IndexFunc(*h, func(each Hold) bool { return each.Kind == by.Kind && each.Name == by.Name })
	if at < 0 {
		*h = append(*h, Hold{by.Kind, by.Name, []corev1.ResourceName{name}})
	} else if !slices.Contains((*h)[at].Resources, name) {
		(*h)[at].Resources = append((*h)[at].Resources, name)
	}
}

func (h holds) sorted() []Hold {
	for i := range h {
		slices.Sort(h[i].Resources)
	}
	slices.SortFunc(h, func(a, b Hold) int { return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Name, b.Name)) })
	return h
}

// HoldsMessage says what is left to autoscalers, and that it is not resized.
func HoldsMessage(holds []Hold) string { return "not resized: " + Sentence(holds) }

// Sentence joins the reasons of holds.
func Sentence(holds []Hold) string {
	parts := make([]string, len(holds))
	for i, hold := range holds {
		parts[i] = hold.String()
	}
	return strings.Join(parts, "; ")
}
