package state

import (
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/decision/core/cpuset"
	"koordinator.sh/koord/decision/core/podrequest"
	"koordinator.sh/koord/decision/nodeqos/cpupool"
)

// configHash is the annotation by which kubelet names the cgroup of a static pod; the UID of its mirror pod is another. A mirror pod
// has it a second time, as configMirror.
const (
	configHash   = "kubernetes.io/config.hash"
	configMirror = "kubernetes.io/config.mirror"
)

// Pod is a pod of this node. It is never changed.
type Pod struct {
	// Object without the fields that the agent does not read.
	Object *corev1.Pod
	// UID by which kubelet names the pod's cgroup.
	UID types.UID
	// Requests by tier, with the pod's band and QoS class.
	Requests podrequest.Requests
	// Owned are the CPUs that the scheduler gave to the pod alone, and OwnedProblem says which others the pod claims.
	Owned        cpuset.CPUSet
	OwnedProblem string
	// Started is when the first container ran; zero before.
	Started time.Time
}

// PodOf digests a pod of which no other is known.
func PodOf(pod *corev1.Pod) *Pod { return PodsOf([]*corev1.Pod{pod})[0] }

// PodsOf digests the pods of a node, in their order.
func PodsOf(pods []*corev1.Pod) []*Pod {
	out := make([]*Pod, len(pods))
	for i, owner := range cpupool.Owners(pods) {
		out[i] = digest(pods[i])
		out[i].Owned, out[i].OwnedProblem = owner.CPUs, owner.Problem
	}
	return out
}

func digest(pod *corev1.Pod) *Pod {
	out := &Pod{Object: pod, UID: cgroupUID(pod), Requests: podrequest.Of(pod)}
	if pod.Status.StartTime != nil {
		out.Started = pod.Status.StartTime.Time
	}
	return out
}

// cgroupUID is the UID by which kubelet names the pod's cgroup.
func cgroupUID(pod *corev1.Pod) types.UID {
	if hash, is := staticUID(pod); is {
		return hash
	}
	return pod.UID
}

// staticUID is the name that kubelet gave a static pod. Anybody may annotate a pod, and what is written by this name is written into a
// cgroup: so it counts on mirror pods only, and only in kubelet's own form of 32 digits, which no UID of the API server has. Kubelet
// runs no mirror pod that it has not made.
func staticUID(pod *corev1.Pod) (types.UID, bool) {
	hash := pod.Annotations[configHash]
	if hash == "" || pod.Annotations[configMirror] != hash || len(hash) != 32 {
		return "", false
	}
	for _, digit := range hash {
		if !strings.ContainsRune("0123456789abcdef", digit) {
			return "", false
		}
	}
	return types.UID(hash), true
}

// Class is the one by which kubelet files the pod's cgroup. Any that it does not have is best effort: it is part of a path.
func (p *Pod) Class() corev1.PodQOSClass {
	switch class := p.Object.Status.QOSClass; class {
	case corev1.PodQOSGuaranteed, corev1.PodQOSBurstable:
		return class
	}
	return corev1.PodQOSBestEffort
}

// Running is true from when kubelet has started the pod until it has ended.
func (p *Pod) Running() bool { return p.Object.Status.Phase == corev1.PodRunning }

// QoS class of the pod.
func (p *Pod) QoS() extension.QoSClass { return p.Requests.QoS }
