package prodovercommit

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"koordinator.sh/koord/api/extension"
)

// Trace says what became of a pod's requests.
type Trace struct {
	// Source of the factor: profile/NAME or namespace/NAME.
	Source string `json:"source"`
	// Factor by resource.
	Factor map[corev1.ResourceName]extension.Ratio `json:"factor,omitempty"`
	// Reason says why the pod is left alone; empty when it is not.
	Reason string `json:"reason,omitempty"`
	// Amounts lists the requests that follow from limits, in the order of containers and then cpu before memory.
	Amounts []Amount `json:"amounts,omitempty"`
}

// Amount is one request.
type Amount struct {
	// Field is its path in the pod.
	Field string `json:"field"`
	// Limit it follows from; Before is empty when nothing was requested.
	Limit  string `json:"limit"`
	Before string `json:"before,omitempty"`
	After  string `json:"after"`
}

func (t *Trace) container(container *corev1.Container, path string) {
	for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
		limit, limited := container.Resources.Limits[name]
		factor, ok := t.Factor[name]
		if !limited || !ok {
			continue
		}
		request := divide(name, limit, factor)
		amount := Amount{Field: fmt.Sprintf("%s[%s].resources.requests[%s]", path, container.Name, name), Limit: limit.String(), After: request.String()}
		if before, requested := container.Resources.Requests[name]; requested {
			amount.Before = before.String()
			if before.Cmp(request) == 0 {
				request = before
			}
		}
		if container.Resources.Requests == nil {
			container.Resources.Requests = corev1.ResourceList{}
		}
		container.Resources.Requests[name] = request
		t.Amounts = append(t.Amounts, amount)
	}
}
