package workers

import (
	"time"

	corev1 "k8s.io/api/core/v1"
)

// Input is one set of workers and the nodes on which they may run.
type Input struct {
	Now  time.Time
	Spec Spec
	// Request of one worker, by resource, pods among them. Empty where none has been seen yet.
	Request map[corev1.ResourceName]int64
	// Nodes that the workers select.
	Nodes []Node
	// Waiting are pods of others that have no node yet and come before workers, in the order in which they are scheduled.
	Waiting []Waiting
	// Quota of the workers; nil without one.
	Quota *Quota
	// Current size of the target, and Pods of it that have not ended.
	Current int32
	Pods    []Pod
	// Budgets are how many disruptions each PodDisruptionBudget allows, by name.
	Budgets map[string]int32
	// History of the target.
	History History
}

// Spec is how the workers are sized.
type Spec struct {
	// Min and Max bound the number of workers.
	Min, Max int32
	// HeadroomPercent of what fits is left to others.
	HeadroomPercent int32
	// Horizon is how far ahead predictions count.
	Horizon time.Duration
	// Up and Down bound the steps.
	Up, Down Rate
	// Ordinals is true where the target takes away the worker with the highest ordinal, as a StatefulSet does.
	Ordinals bool
}

// Rate bounds steps in one direction.
type Rate struct {
	// Pods is the most that a step changes.
	Pods int32
	// Period is the least time between two steps.
	Period time.Duration
	// Stabilization is how long a change must be wanted without a break.
	Stabilization time.Duration
}

// Node is a node that the workers select.
type Node struct {
	Name string
	// Free is what the node offers beyond what pods other than the workers, reservations and other schedulers hold, by resource.
	Free map[corev1.ResourceName]int64
	// Later is the least that is predicted of Free within the horizon; a resource that is not there is not predicted to change.
	Later map[corev1.ResourceName]int64
	// Closed says why the node takes no more workers, and keeps those it has: it is cordoned or has a taint. Empty otherwise.
	Closed string
	// Lost is true for a node that is not ready.
	Lost bool
}

// Waiting are pods of others that have no node yet, that are alike, and that are scheduled one after the other.
type Waiting struct {
	// Count is how many there are; zero counts as one.
	Count int
	// Request of each, by resource.
	Request map[corev1.ResourceName]int64
	// Nodes that they may get, by name; nil for all.
	Nodes map[string]bool
}

// Quota is how many workers an ElasticQuota and those above it have room for, those that run included.
type Quota struct {
	Name string
	Fits int64
}

// Pod is a worker.
type Pod struct {
	Name string
	// Node is empty for a worker that waits for one.
	Node    string
	Created time.Time
	// Ordinal of a worker of a StatefulSet.
	Ordinal int
	// Used is the CPU that it uses, in milli-cores; -1 where that is not known.
	Used int64
	// Draining is true once it was chosen to go.
	Draining bool
	// Budgets that an eviction of it counts against, by name.
	Budgets []string
}

// History is what earlier decisions left.
type History struct {
	Trend *Trend
	// Up and Down are when the last step in each direction was made; zero for never.
	Up, Down time.Time
}

// Direction of a change.
type Direction string

const (
	// Up is more workers.
	Up Direction = "Up"
	// Down is fewer.
	Down Direction = "Down"
)

// Trend is a change that has been wanted without a break.
type Trend struct {
	Direction Direction
	Since     time.Time
	// Replicas is the most moderate number wanted since then.
	Replicas int32
}
