package reason

import (
	corev1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"
)

// Grouper is a plugin that gives some pods nodes together, or none of them. Its methods must be safe for concurrent use.
type Grouper interface {
	fwk.Plugin
	// Together lists the pods without a node that get nodes together with the pod, itself among them, in the order in which the
	// scheduler tries them. It is empty for a pod that is placed by itself.
	Together(pod *corev1.Pod) []*corev1.Pod
	// Complete is true when so many of those have a node that the others are not waited for.
	Complete(pod *corev1.Pod) bool
	// HeldBack is the reason of a status for a pod that gets no node because another one of those finds none; placed is how many
	// did. The subject says it to people. Why is what the condition of the refused pod says, empty when that is not known.
	HeldBack(pod, refused *corev1.Pod, placed int, why string) (reason string, subject Subject)
	// Fewer proposes that as many as found a node are enough; none where too few did.
	Fewer(pod *corev1.Pod, placed int) []Change
}
