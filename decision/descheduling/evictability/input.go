package evictability

import (
	corev1 "k8s.io/api/core/v1"

	"koordinator.sh/koord/decision/descheduling/loopguard"
)

// Input of Decide.
type Input struct {
	Pod    *corev1.Pod
	Policy Policy
	// Loop in which the workload of the pod goes; nil when it goes in none, and for a job that exists already: who made the job has decided,
	// and plugins make none for such a pod.
	Loop *loopguard.Loop
	// Nodes that the pod could move to. The pod's own may be among them and is left out. They are read for NodeFit only.
	Nodes []Node
}

// Node is a node with its pods that have not ended.
type Node struct {
	*corev1.Node
	Pods []*corev1.Pod
}
