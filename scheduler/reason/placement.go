package reason

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"
)

// Estimator is a plugin that goes by what a pod is expected to use.
type Estimator interface {
	fwk.Plugin
	// EstimatedUsage of the pod.
	EstimatedUsage(pod *corev1.Pod) corev1.ResourceList
}

// Allocator is a plugin whose Reserve gives a pod parts of its node, such as CPUs or devices, and notes in the cycle state which.
// Simulations call its Reserve when they place a pod.
type Allocator interface {
	fwk.ReservePlugin
	// Allocates marks allocators, as distinct from other plugins with a Reserve.
	Allocates()
}

// Annotator is a plugin that writes what the others noted in the cycle state on the pod before it is bound.
type Annotator interface {
	fwk.Plugin
	// Annotated is a copy of the pod of a cycle with the annotations that a binding at that moment would write.
	Annotated(state fwk.CycleState, pod *corev1.Pod, at time.Time) *corev1.Pod
}
