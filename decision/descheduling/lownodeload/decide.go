package lownodeload

import (
	corev1 "k8s.io/api/core/v1"
)

// Verdict is what a pass does.
type Verdict struct {
	// Nodes that belong to a pool, in the order of the input.
	Nodes []NodeVerdict
	// Parts are the pools, those with thresholds for prod twice.
	Parts []PartVerdict
	// Victims in the order in which they leave.
	Victims []Victim
	// History for the next pass.
	History History
	// DryRun says that the victims stay.
	DryRun bool
}

// NodeVerdict is the class of a node.
type NodeVerdict struct {
	Name, Pool string
	Class      Class
	// Problem says why its usage is unknown; empty when it is known.
	Problem string
	// Anomalous is true for a node that was overutilized often enough for pods to leave it.
	Anomalous bool
}

// PartVerdict says what came of a pool.
type PartVerdict struct {
	Pool string
	Prod bool
	// Underutilized and Overutilized are how many nodes can take pods, and how many are left by pods.
	Underutilized, Overutilized int
	// Stop says why no pod was considered; empty when pods were.
	Stop string
}

// Victim is a pod that leaves.
type Victim struct {
	Pod *corev1.Pod
	// Node that it leaves, and a node that it fits on; empty without nodeFit.
	Node, Target string
	Pool         string
	// Reason of the eviction.
	Reason string
}

// Decide plans a pass: which pods leave which nodes, if no eviction is refused. A nil trace records nothing.
func Decide(in Input, trace *Trace) Verdict {
	round := Begin(in, trace)
	for {
		if _, any := round.Next(); !any {
			return round.Verdict()
		}
		round.Evicted()
	}
}
