package podresize

import (
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
)

// Container is the resources that a container of a pod gets; resources that are not named stay.
type Container struct {
	Name string
	// Sidecar says that it is among the init containers.
	Sidecar          bool
	Requests, Limits corev1.ResourceList
}

// Patch of subresource resize of a pod, a strategic merge patch. The UID keeps it from a new pod of the same name.
func Patch(pod *corev1.Pod, containers []Container) ([]byte, error) {
	spec := map[string][]any{}
	for _, c := range containers {
		field := "containers"
		if c.Sidecar {
			field = "initContainers"
		}
		spec[field] = append(spec[field], map[string]any{
			"name": c.Name, "resources": corev1.ResourceRequirements{Requests: c.Requests, Limits: c.Limits},
		})
	}
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"uid": pod.UID}, "spec": spec})
	if err != nil {
		return nil, fmt.Errorf("encode the resize of pod %q: %w", pod.Name, err)
	}
	return patch, nil
}
