package state

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/decision/cpuset"
	"koordinator.sh/koord/decision/numa"
	"koordinator.sh/koord/decision/podrequest"
)

// configHash is the annotation by which kubelet names the cgroup of a static pod; the mirror pod's UID is another.
const configHash = "kubernetes.io/config.hash"

// Pod is a pod of this node. It is never changed.
type Pod struct {
	// Object without what nobody here reads.
	Object *corev1.Pod
	// UID by which kubelet names the pod's cgroup.
	UID types.UID
	// Requests by tier, with the pod's band and QoS class.
	Requests podrequest.Requests
	// Owned are the CPUs that the scheduler gave to the pod alone.
	Owned cpuset.CPUSet
	// Started is when the first container ran; zero before.
	Started time.Time
}

// PodOf digests a pod.
func PodOf(pod *corev1.Pod) *Pod {
	held, _ := numa.Held(pod)
	out := &Pod{Object: pod, UID: pod.UID, Requests: podrequest.Of(pod), Owned: held.CPUs}
	if hash := pod.Annotations[configHash]; hash != "" {
		out.UID = types.UID(hash)
	}
	if pod.Status.StartTime != nil {
		out.Started = pod.Status.StartTime.Time
	}
	return out
}

// Class is the one by which kubelet files the pod's cgroup.
func (p *Pod) Class() corev1.PodQOSClass {
	if p.Object.Status.QOSClass == "" {
		return corev1.PodQOSBestEffort
	}
	return p.Object.Status.QOSClass
}

// Running is true from when kubelet has started the pod until it has ended.
func (p *Pod) Running() bool { return p.Object.Status.Phase == corev1.PodRunning }

// QoS class of the pod.
func (p *Pod) QoS() extension.QoSClass { return p.Requests.QoS }

// slim drops what takes memory and is not read: who wrote which field, volumes, and the like.
func slim(object any) (any, error) {
	pod, ok := object.(*corev1.Pod)
	if !ok {
		return object, nil
	}
	pod.ManagedFields = nil
	pod.Spec.Volumes, pod.Spec.Tolerations, pod.Spec.Affinity = nil, nil, nil
	for _, containers := range [][]corev1.Container{pod.Spec.Containers, pod.Spec.InitContainers} {
		for i := range containers {
			c := &containers[i]
			c.Env, c.EnvFrom, c.VolumeMounts, c.Command, c.Args = nil, nil, nil, nil, nil
			c.LivenessProbe, c.ReadinessProbe, c.StartupProbe, c.Lifecycle = nil, nil, nil, nil
		}
	}
	return pod, nil
}
