package eviction

import (
	"time"

	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	"koordinator.sh/koord/decision/core/freshness"
	"koordinator.sh/koord/decision/core/podrequest"
	"koordinator.sh/koord/decision/core/unknown"
)

// Input is everything the evictions of one node depend on. Nothing in it is modified.
type Input struct {
	// Now is the time of the decision.
	Now time.Time
	// Strategy in force; nil is disabled.
	Strategy *slov1alpha1.ResourceThresholdStrategy
	// On says which features are switched on.
	On map[Feature]bool
	// Node and the Pods on it, in any order, with the containers of schedulers outside of Kubernetes. See ContainerOf.
	Node Node
	Pods []Pod
	// BestEffort is how much CPU best-effort pods get; nil when it is not known.
	BestEffort *Satisfaction
	// LastEviction by resource; a resource that is absent was never short. Cooldown after it; CPUCooldown and MemoryCooldown
	// where absent, none where negative.
	LastEviction map[Resource]time.Time
	Cooldown     map[Resource]time.Duration
	// LeavingFor is how long a pod that was evicted counts as released while it is still there; 0 is for ever.
	LeavingFor time.Duration
	// Budget of the node; without one nothing is evicted.
	Budget *Budget
	// Danger says when PodDisruptionBudgets are overridden; they never are by default.
	Danger Danger
	// Unknown are the inputs that could not be read: NodeSLOs for the strategy, NodeMetrics for what is used, Pods.
	Unknown unknown.Inputs
}

// Node is what is known of one node.
type Node struct {
	freshness.Observation
	// Capacity, before anything is reserved.
	Capacity podrequest.Amount
	// Used by everything on the node: CPU averaged over cpuEvictTimeWindowSeconds, memory right now.
	Used podrequest.Amount
	// Offers are the node's allocatable by tier. A tier that is absent is not offered, and no pod is evicted for it.
	Offers map[podrequest.Tier]Offer
}

// Offer is what a node has to give of one tier.
type Offer struct {
	Amount podrequest.Amount
	// Withdrawn says why the offer is not what the node has, such as measurements that are too old. No pod is evicted for
	// a withdrawn offer; empty for an offer that is intended, even when it is zero.
	Withdrawn string
}

// Satisfaction is how much CPU best-effort pods get of what they requested.
type Satisfaction struct {
	// Average over cpuEvictTimeWindowSeconds, and what is now.
	Average, Current BestEffortCPU
	// Samples in the window, and the interval between them. The average counts when they cover a third of the window.
	Samples  int
	Interval time.Duration
}

// BestEffortCPU in milli-cores.
type BestEffortCPU struct {
	// Limit is what suppression leaves: the smaller of CPUs and quota.
	Limit int64 `json:"limit"`
	// Request in batch-cpu of all best-effort pods, and of containers of schedulers outside of Kubernetes.
	Request int64 `json:"request"`
	// Used by them.
	Used int64 `json:"used"`
	// ContainerRequest and ContainerUsed are the parts of the containers.
	ContainerRequest int64 `json:"containerRequest,omitempty"`
	ContainerUsed    int64 `json:"containerUsed,omitempty"`
}
