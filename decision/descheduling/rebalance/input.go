package rebalance

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	"koordinator.sh/koord/decision/core/jobinsight"
	"koordinator.sh/koord/decision/descheduling/cpulimit"
	"koordinator.sh/koord/decision/descheduling/loopguard"
)

// Input of Decide. Vectors of resources have the order of Resources; pods, nodes and workloads are named by their index.
type Input struct {
	// Args with all defaults, and valid.
	Args *Args
	Now  time.Time
	// Resources that are weighed, each with a weight and a high threshold in Args.
	Resources []corev1.ResourceName
	Nodes     []Node
	Pods      []Pod
	Workloads []Workload
	// History of moves, in any order: PodMigrationJobs that succeeded, and evictions by the agents.
	History []loopguard.Move
	// Pending are moves that are under way. Their load counts where it goes to, and they count as history.
	Pending []Move
	// Feasible says whether a pod may run on a node, after what was moved before. Nil takes every schedulable node.
	Feasible Feasibility
}

// Feasibility is what the scheduler's filters say of a pod and a node, given the moves of the pass so far. It is a pure function: it
// returns the same for the same arguments, and changes nothing that its caller sees.
type Feasibility func(pod, node int, moves []Move) (reason string, feasible bool)

// Node is a node with its predicted load.
type Node struct {
	Name string
	// Capacity is what it can allocate of each resource, before amplification.
	Capacity []float64
	// Usage is the 95th percentile of the predicted usage, in the unit of the capacity. A node without one, or with values that cannot
	// be used, is neither source nor target, and does not count.
	Usage []float64
	// Limit is the lowest fraction of the capacity above which the scheduler refuses the node or the agent evicts best-effort pods
	// from it; 0 for none.
	Limit []float64
	// Reclaimable is how much of the usage the agent takes from best-effort pods when it holds them back; nil for nothing.
	Reclaimable []float64
	// Unschedulable nodes are no targets.
	Unschedulable bool
}

// Pod is a pod that runs on a node.
type Pod struct {
	// Name is namespace/name.
	Name string
	// Node is its index; -1 for a pod on a node that is not looked at.
	Node int
	// Workload is its index; -1 for a pod without one.
	Workload int
	// Usage is the 95th percentile of the predicted usage, which is at most the limit.
	Usage []float64
	// Protected says why the pod may not be evicted; empty if it may.
	Protected string
	// Started is when it began to run.
	Started time.Time
	// Priority of the pod, EvictionCost of its annotation koordinator.sh/eviction-cost.
	Priority, EvictionCost int32
	// Restart is how much work is lost, and Readiness how long it takes until the new pod is ready.
	Restart, Readiness time.Duration
	// Remaining lifetime of a pod of a job; nil for a pod that does not end by itself.
	Remaining *time.Duration
	// Progress of its job, by which pods are ordered whose moves are worth the same; nil where nothing was predicted of it.
	Progress *jobinsight.Progress
	// Limit is the CPU limit of a pod for which it may be lowered, or was; nil for others.
	Limit *CPULimit
}

// CPULimit is the sum of the CPU limits of a pod's containers, in cores.
type CPULimit struct {
	// Now, and Least that it may be lowered to.
	Now, Least float64
	// Before it was lowered, and Usage what the pod was predicted to use then; 0 if it was not lowered.
	Before, Usage float64
	// Kept limits are not lowered (any further) at present.
	Kept bool
	// Withdrawn limits are given back whatever the load of the node.
	Withdrawn bool
}

// CPULimitOf reads the limit of a pod.
func CPULimitOf(pod *corev1.Pod) *CPULimit {
	r := cpulimit.Of(pod)
	if r.Kept != "" && !r.Lowered() {
		return nil
	}
	cores := func(milli int64) float64 { return float64(milli) / 1000 }
	return &CPULimit{
		Now: cores(r.Limit), Least: cores(r.Least), Before: cores(r.Before), Usage: cores(r.Usage), Kept: r.Kept != "", Withdrawn: r.Withdrawn,
	}
}

// Workload owns pods: a Deployment, not its ReplicaSets.
type Workload struct {
	// Key is its identity in the history: kind/namespace/name.
	Key      string
	Replicas int
	Freeze   Freeze
}
