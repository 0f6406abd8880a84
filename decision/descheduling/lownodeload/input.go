package lownodeload

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"koordinator.sh/koord/decision/descheduling/nodeload"
)

// Input is what a pass is decided from. Nothing in it is modified.
type Input struct {
	Policy *Policy
	Now    time.Time
	// Interval between passes; 0 where it is not known, and then no count is forgotten.
	Interval time.Duration
	// Nodes that are ready.
	Nodes []Node
	// History that the last pass returned.
	History History
	// Protected pods do not leave, with the reason. A caller whose evictor decides that uses Begin, and refuses victims.
	Protected map[types.UID]string
}

// Node is a node with what is known of it.
type Node struct {
	*corev1.Node
	// Metric is nil when there is no NodeMetric.
	Metric *nodeload.Report
	// Pods of the node that have not ended.
	Pods []*corev1.Pod
}
