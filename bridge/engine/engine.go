// Package engine says what a scheduler outside of Kubernetes must be able to do to run work on batch resources.
package engine

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"

	"koordinator.sh/koord/decision/core/podrequest"
)

// Amount is cpu in milli-cores and memory in bytes.
type Amount = podrequest.Amount

// Engine is one cluster of such a scheduler. Its methods are called one at a time.
type Engine interface {
	// Name of the kind of scheduler in node.koordinator.sh/thirdPartyAllocations, such as hadoop-yarn.
	Name() string
	// Cluster is the name of this cluster of it.
	Cluster() string
	// Grain is what the engine counts in.
	Grain() Amount
	// Keys are the names under which the engine may know a node, the one to be preferred first; empty for nodes that it does not use.
	// Agents are the pods on the node that Agent selected.
	Keys(node *corev1.Node, agents []*corev1.Pod) []string
	// Agent says whether a pod is one by which the engine works on its node, such as a NodeManager.
	Agent(pod *corev1.Pod) bool
	// Observe reads all nodes of the engine.
	Observe(ctx context.Context) (State, error)
	// SetCapacity changes what the engine may allocate up to. After an error, any of the changes may have been made.
	SetCapacity(ctx context.Context, changes []Change) error
	// Close ends connections.
	Close()
}

// State is what an engine says of itself.
type State struct {
	// Nodes by key.
	Nodes map[string]Node
	// Waits is true when something waits for resources.
	Waits bool
}

// Node is one node as an engine sees it.
type Node struct {
	// Capacity is what it may allocate up to, Allocated what it has allocated.
	Capacity, Allocated Amount
	// Closed is true when the engine gives the node no new work, such as an unhealthy one.
	Closed bool
}

// Change is a new capacity of one node.
type Change struct {
	Key      string
	Capacity Amount
	// Deadline is how long work beyond the capacity may run on before it is ended. It is always above zero.
	Deadline time.Duration
}
