package explain

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/sets"
	resourcehelper "k8s.io/component-helpers/resource"
)

// transfer makes the change between two versions of a pod to a third one, which other changes may have been made to. It knows
// what changes of a pod consist of: labels, annotations, resources, ports, tolerations, the node selector, affinity, and how the pod is
// spread.
func transfer(before, after, onto *corev1.Pod) *corev1.Pod {
	if onto == before {
		return after
	}
	changed := onto.DeepCopy()
	changed.Labels = transferKeys(before.Labels, after.Labels, changed.Labels)
	changed.Annotations = transferKeys(before.Annotations, after.Annotations, changed.Annotations)
	changed.Spec.NodeSelector = transferKeys(before.Spec.NodeSelector, after.Spec.NodeSelector, changed.Spec.NodeSelector)
	if !apiequality.Semantic.DeepEqual(before.Spec.Affinity, after.Spec.Affinity) {
		changed.Spec.Affinity = after.Spec.Affinity
	}
	if !apiequality.Semantic.DeepEqual(before.Spec.TopologySpreadConstraints, after.Spec.TopologySpreadConstraints) {
		changed.Spec.TopologySpreadConstraints = after.Spec.TopologySpreadConstraints
	}
	for _, toleration := range after.Spec.Tolerations {
		if !slices.Contains(before.Spec.Tolerations, toleration) && !slices.Contains(changed.Spec.Tolerations, toleration) {
			changed.Spec.Tolerations = append(changed.Spec.Tolerations, toleration)
		}
	}
	transferContainers(before.Spec.InitContainers, after.Spec.InitContainers, changed.Spec.InitContainers)
	transferContainers(before.Spec.Containers, after.Spec.Containers, changed.Spec.Containers)
	if before.Spec.Resources != nil && after.Spec.Resources != nil && changed.Spec.Resources != nil {
		transferResources(before.Spec.Resources, after.Spec.Resources, changed.Spec.Resources)
	}
	return changed
}

func transferKeys(before, after, onto map[string]string) map[string]string {
	for key := range before {
		if _, kept := after[key]; !kept {
			delete(onto, key)
		}
	}
	for key, value := range after {
		if old, known := before[key]; known && old == value {
			continue
		}
		if onto == nil {
			onto = map[string]string{}
		}
		onto[key] = value
	}
	return onto
}

func transferContainers(before, after, onto []corev1.Container) {
	for i := range onto {
		transferResources(&before[i].Resources, &after[i].Resources, &onto[i].Resources)
		if !apiequality.Semantic.DeepEqual(before[i].Ports, after[i].Ports) {
			onto[i].Ports = after[i].Ports
		}
	}
}

func transferResources(before, after, onto *corev1.ResourceRequirements) {
	onto.Requests = transferAmounts(before.Requests, after.Requests, onto.Requests)
	onto.Limits = transferAmounts(before.Limits, after.Limits, onto.Limits)
}

func transferAmounts(before, after, onto corev1.ResourceList) corev1.ResourceList {
	for name, amount := range after {
		if old, known := before[name]; known && old.Cmp(amount) == 0 {
			continue
		}
		if onto == nil {
			onto = corev1.ResourceList{}
		}
		onto[name] = amount
	}
	for name := range before {
		if _, kept := after[name]; !kept {
			delete(onto, name)
		}
	}
	return onto
}

// changed names what differs between two versions of a pod, as transfer knows it.
func changed(before, after *corev1.Pod) sets.Set[string] {
	fields := sets.New[string]()
	for kind, maps := range map[string][2]map[string]string{
		"label ": {before.Labels, after.Labels}, "annotation ": {before.Annotations, after.Annotations}, "selector ": {before.Spec.NodeSelector, after.Spec.NodeSelector},
	} {
		for key := range sets.KeySet(maps[0]).Union(sets.KeySet(maps[1])) {
			if old, had := maps[0][key]; old != maps[1][key] || had != sets.KeySet(maps[1]).Has(key) {
				fields.Insert(kind + key)
			}
		}
	}
	if !apiequality.Semantic.DeepEqual(before.Spec.Affinity, after.Spec.Affinity) {
		fields.Insert("affinity")
	}
	if !apiequality.Semantic.DeepEqual(before.Spec.TopologySpreadConstraints, after.Spec.TopologySpreadConstraints) {
		fields.Insert("spread")
	}
	if !apiequality.Semantic.DeepEqual(hostPorts(before), hostPorts(after)) {
		fields.Insert("host ports")
	}
	options := resourcehelper.PodResourcesOptions{}
	old, new := resourcehelper.PodRequests(before, options), resourcehelper.PodRequests(after, options)
	for name := range sets.KeySet(old).Union(sets.KeySet(new)) {
		if from, to := old[name], new[name]; from.Cmp(to) != 0 {
			fields.Insert("request " + string(name))
		}
	}
	return fields
}
