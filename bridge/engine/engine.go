// Package engine says what a scheduler outside of Kubernetes must be able to do to run work on batch resources.
package engine

import (
	"context"
	"slices"
	"strings"
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

// Killer is an engine that does not end work beyond a capacity by itself, so that it has to be told once the deadline is over.
type Killer interface {
	// Kill ends work on a node so that it has over less in use, what loses the least progress first. It returns what was ended, for people.
	Kill(ctx context.Context, key string, over Amount) (ended []string, err error)
}

// State is what an engine says of itself.
type State struct {
	// Grain is what the engine counts in. Paired is true when it counts in one unit that has the Grain of both resources.
	Grain  Amount
	Paired bool
	// Nodes by key.
	Nodes map[string]Node
	// Waits is true when something waits for resources.
	Waits bool
}

// Node is one node as an engine sees it.
type Node struct {
	// Capacity is what it may allocate up to, Allocated what it has allocated.
	Capacity, Allocated Amount
	// Most is how much the engine can use of the node at most; zero where nothing but the capacity bounds it.
	Most Amount
	// Warning says what keeps the capacity from being held, for people; empty where nothing does.
	Warning string
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

// KeysOf are keys, each once: those of agents, the oldest pod's first, and then those of the node.
func KeysOf(node *corev1.Node, agents []*corev1.Pod, ofAgent func(*corev1.Pod) []string, ofNode func(*corev1.Node) []string) (keys []string) {
	agents = slices.Clone(agents)
	slices.SortFunc(agents, func(a, b *corev1.Pod) int {
		if byAge := a.CreationTimestamp.Compare(b.CreationTimestamp.Time); byAge != 0 {
			return byAge
		}
		return strings.Compare(a.Namespace+"/"+a.Name, b.Namespace+"/"+b.Name)
	})
	add := func(more []string) {
		for _, key := range more {
			if !slices.Contains(keys, key) {
				keys = append(keys, key)
			}
		}
	}
	for _, pod := range agents {
		add(ofAgent(pod))
	}
	add(ofNode(node))
	return keys
}
