package colocationprofile

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"koordinator.sh/koord/api/extension"
)

// Extended are the resources that the annotation repeats, in order.
var Extended = []corev1.ResourceName{extension.BatchCPU, extension.BatchMemory, extension.MidCPU, extension.MidMemory}

// repeatResources writes the batch and mid resources of the containers to an annotation, for node components that see no
// pod spec. A pod without any keeps its annotations.
func repeatResources(pod *corev1.Pod) error {
	spec := extension.ExtendedResourceSpec{Containers: map[string]extension.ExtendedResourceContainerSpec{}}
	for _, containers := range [][]corev1.Container{pod.Spec.InitContainers, pod.Spec.Containers} {
		for i := range containers {
			resources := &containers[i].Resources
			entry := extension.ExtendedResourceContainerSpec{Limits: extended(resources.Limits), Requests: extended(resources.Requests)}
			if entry.Limits != nil || entry.Requests != nil {
				spec.Containers[containers[i].Name] = entry
			}
		}
	}
	if len(spec.Containers) == 0 {
		return nil
	}
	if err := extension.SetExtendedResourceSpec(pod, &spec); err != nil {
		return fmt.Errorf("repeat the resources of the containers: %w", err)
	}
	return nil
}

// extended returns the batch and mid resources of a list; nil when there are none.
func extended(list corev1.ResourceList) corev1.ResourceList {
	var found corev1.ResourceList
	for _, name := range Extended {
		if quantity, ok := list[name]; ok {
			if found == nil {
				found = corev1.ResourceList{}
			}
			found[name] = quantity
		}
	}
	return found
}
