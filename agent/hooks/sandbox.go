package hooks

import (
	"path"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"koordinator.sh/koord/agent/host/cgroup"
	"koordinator.sh/koord/agent/state"
	"koordinator.sh/koord/api/extension"
)

// Sandbox is a pod as a container runtime describes it.
type Sandbox struct {
	Namespace, Name, UID string
	// Labels and Annotations of the pod, which kubelet copies.
	Labels, Annotations map[string]string
	// CgroupParent is the pod's cgroup, as kubelet named it.
	CgroupParent string
}

// Pod returns the pod of a sandbox from what the sandbox itself says: nothing else needs to know it. Requests are those that the
// pod's annotation repeats, because a sandbox has none.
func (s Sandbox) Pod(layout cgroup.Layout) *state.Pod {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace, Name: s.Name, UID: types.UID(s.UID), Labels: s.Labels, Annotations: s.Annotations},
		Status:     corev1.PodStatus{QOSClass: s.class(layout)},
	}
	if spec, err := extension.GetExtendedResourceSpec(s.Annotations); err == nil && spec != nil {
		for name, resources := range spec.Containers {
			pod.Spec.Containers = append(pod.Spec.Containers, corev1.Container{
				Name: name, Resources: corev1.ResourceRequirements{Requests: resources.Requests, Limits: resources.Limits},
			})
		}
		slices.SortFunc(pod.Spec.Containers, func(a, b corev1.Container) int { return strings.Compare(a.Name, b.Name) })
	}
	return state.PodOf(pod)
}

// class by which kubelet files the pod, read from the name of its cgroup.
func (s Sandbox) class(layout cgroup.Layout) corev1.PodQOSClass {
	at := s.CgroupParent
	if layout.Driver == cgroup.Systemd {
		at = path.Base(at)
	}
	for _, class := range []corev1.PodQOSClass{corev1.PodQOSBestEffort, corev1.PodQOSBurstable} {
		name := strings.ToLower(string(class))
		if layout.Driver == cgroup.Systemd && strings.HasPrefix(at, "kubepods-"+name+"-") || layout.Driver != cgroup.Systemd && strings.Contains(at, "/"+name+"/") {
			return class
		}
	}
	return corev1.PodQOSGuaranteed
}
