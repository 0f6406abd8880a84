package colocationprofile

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// wholePod moves cpu and memory that are stated for the pod as a whole to its containers, because Kubernetes accepts no
// other resources there. The request of the pod is kept to the last unit: what the containers do not request themselves
// is added to one of them. The pod's limit becomes the limit of every container that has none; for a pod of one
// container that is the same bound.
func (t *translation) wholePod(pod *corev1.Pod) {
	whole := pod.Spec.Resources
	if whole == nil || len(pod.Spec.Containers) == 0 {
		return
	}
	for _, name := range plain {
		if request, ok := whole.Requests[name]; ok {
			t.shareRequest(pod, name, request)
			delete(whole.Requests, name)
		}
		if limit, ok := whole.Limits[name]; ok {
			t.shareLimit(pod, name, limit)
			delete(whole.Limits, name)
		}
	}
	if len(whole.Requests) == 0 && len(whole.Limits) == 0 && len(whole.Claims) == 0 {
		pod.Spec.Resources = nil
	}
}

func (t *translation) shareRequest(pod *corev1.Pod, name corev1.ResourceName, request resource.Quantity) {
	rest := request.DeepCopy()
	for _, container := range concurrent(pod) {
		// A container that only has a limit requests as much.
		own, ok := container.Resources.Requests[name]
		if !ok {
			own = container.Resources.Limits[name]
		}
		rest.Sub(own)
	}
	if rest.Sign() <= 0 {
		return
	}
	taker := absorbing(pod, name)
	resources := &taker.Resources
	if resources.Requests == nil {
		resources.Requests = corev1.ResourceList{}
	}
	own, ok := resources.Requests[name]
	if !ok {
		own = resources.Limits[name]
	}
	rest.Add(own)
	resources.Requests[name] = rest
	if limit, limited := resources.Limits[name]; limited && limit.Cmp(rest) < 0 {
		resources.Limits[name] = rest
	}
	t.moved("spec.resources.requests", name, request, fmt.Sprintf("the rest is added to the request of container %q", taker.Name))
}

// absorbing is the container that takes what the others leave of the pod's request: the first one without a limit, which
// the request cannot exceed, or else the first.
func absorbing(pod *corev1.Pod, name corev1.ResourceName) *corev1.Container {
	for i := range pod.Spec.Containers {
		if _, limited := pod.Spec.Containers[i].Resources.Limits[name]; !limited {
			return &pod.Spec.Containers[i]
		}
	}
	return &pod.Spec.Containers[0]
}

func (t *translation) shareLimit(pod *corev1.Pod, name corev1.ResourceName, limit resource.Quantity) {
	for _, container := range concurrent(pod) {
		if _, limited := container.Resources.Limits[name]; limited {
			continue
		}
		// A limit without a request would default the request to the limit; a request of zero prevents that.
		if container.Resources.Requests == nil {
			container.Resources.Requests = corev1.ResourceList{}
		}
		if _, requested := container.Resources.Requests[name]; !requested {
			container.Resources.Requests[name] = *resource.NewQuantity(0, resource.DecimalSI)
		}
		if container.Resources.Limits == nil {
			container.Resources.Limits = corev1.ResourceList{}
		}
		container.Resources.Limits[name] = limit.DeepCopy()
	}
	t.moved("spec.resources.limits", name, limit, "it becomes the limit of each container that has none")
}

func (t *translation) moved(path string, name corev1.ResourceName, quantity resource.Quantity, why string) {
	if t.trace != nil {
		t.trace.amount(path, name, Change{Outcome: Changed, Before: quantity.String(), Reason: why})
	}
}

// concurrent are the containers that run at the same time: the regular ones and the sidecars.
func concurrent(pod *corev1.Pod) []*corev1.Container {
	var list []*corev1.Container
	for i := range pod.Spec.InitContainers {
		policy := pod.Spec.InitContainers[i].RestartPolicy
		if policy != nil && *policy == corev1.ContainerRestartPolicyAlways {
			list = append(list, &pod.Spec.InitContainers[i])
		}
	}
	for i := range pod.Spec.Containers {
		list = append(list, &pod.Spec.Containers[i])
	}
	return list
}
