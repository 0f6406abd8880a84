package metrics

import (
	"time"

	"k8s.io/apimachinery/pkg/types"

	"koordinator.sh/koord/agent/host"
)

// Node measures one machine. It is not safe for concurrent use.
type Node struct {
	policy Policy
	// last is the previous reading of the node; its time is zero before the first.
	last         host.Counter
	lastAt       time.Time
	recent       recent
	pressure     pressures
	node, system *Window
	pods         map[types.UID]*series
	// order holds the series of the previous snapshot's pods in its order, which the next one usually repeats.
	order []*series
	// round counts how often the set of pods changed.
	round      uint64
	containers containers
	bestEffort track
	// applications are those outside of Kubernetes.
	applications applications
	numa         []numaNode
}

// series is the measurement of one pod.
type series struct {
	uid types.UID
	track
	// round is the latest round whose pods this one is among.
	round  uint64
	window *Window
}

// NewNode returns a Node without samples; the policy is taken with its defaults.
func NewNode(policy Policy) *Node {
	policy = policy.WithDefaults()
	longest := policy.samples(policy.Longest())
	return &Node{policy: policy, node: NewWindow(longest), system: NewWindow(longest), pods: map[types.UID]*series{}}
}

// Policy returns what the node measures.
func (n *Node) Policy() Policy { return n.policy }

// Observe takes a snapshot. From the second on, each yields a sample of the node, of each pod, and of the system: the
// node less its pods and the applications outside of Kubernetes, never below zero. A pod seen for the first time counts from
// zero since the previous snapshot, because its counters began with it. A snapshot that is not newer than the previous is
// dropped.
func (n *Node) Observe(snapshot *host.Snapshot) {
	first := n.lastAt.IsZero()
	if !first && !snapshot.Time.After(n.lastAt) {
		return
	}
	n.align(snapshot)
	var known Usage
	for i := range snapshot.Pods {
		usage := n.order[i].observe(n, snapshot.Pods[i].Counter, &snapshot.Pods[i].Details, snapshot.Time)
		if !first {
			n.order[i].window.Add(snapshot.Time, usage)
		}
		known = known.Plus(usage.bounded())
	}
	known = known.Plus(n.applications.observe(n, snapshot))
	n.containers.observe(n, snapshot)
	n.bestEffort.observe(n, snapshot.BestEffort.Counter, &snapshot.BestEffort.Details, snapshot.Time)
	n.pressure.observe(snapshot.Pressure)
	// A node's counter that went backwards means the machine restarted: what it used meanwhile is unknown.
	if !first && snapshot.Node.CPU >= n.last.CPU {
		used := Usage{
			NanoCores: rate(n.last.CPU, snapshot.Node.CPU, snapshot.Time.Sub(n.lastAt)),
			Memory:    n.policy.memory(snapshot.Node),
		}
		system := used.less(known)
		n.node.Add(snapshot.Time, used)
		n.system.Add(snapshot.Time, system)
		n.recent.observe(snapshot.Node, snapshot.Time, used.NanoCores, n.policy.Period)
		n.observeNUMA(snapshot, used, system)
	} else {
		n.recent.begin(snapshot.Node, snapshot.Time)
		n.observeNUMA(snapshot, Usage{}, Usage{})
	}
	n.last, n.lastAt = snapshot.Node, snapshot.Time
}

// ObserveBetween takes a snapshot between two that Observe takes. It changes nothing but what was used latest: windows have samples at
// regular distances only. Pods that are new, or not in the order of the latest snapshot, are passed over.
func (n *Node) ObserveBetween(snapshot *host.Snapshot) {
	if n.lastAt.IsZero() || !snapshot.Time.After(n.lastAt) {
		return
	}
	n.recent.observeBetween(snapshot.Node, snapshot.Time)
	n.bestEffort.recent.observeBetween(snapshot.BestEffort.Counter, snapshot.Time)
	for i := range snapshot.Pods {
		if i < len(n.order) && n.order[i].uid == snapshot.Pods[i].UID {
			n.order[i].recent.observeBetween(snapshot.Pods[i].Counter, snapshot.Time)
		}
	}
	for i := range snapshot.Applications {
		if s := n.applications.named(snapshot.Applications[i].Name); s != nil {
			s.recent.observeBetween(snapshot.Applications[i].Counter, snapshot.Time)
		}
	}
}

// align makes order match the snapshot's pods, with new series for new pods, and forgets pods that went.
func (n *Node) align(snapshot *host.Snapshot) {
	same := len(n.order) == len(snapshot.Pods)
	for i := 0; same && i < len(n.order); i++ {
		same = n.order[i].uid == snapshot.Pods[i].UID
	}
	if same {
		return
	}
	n.order = n.order[:0]
	n.round++
	for i := range snapshot.Pods {
		uid := snapshot.Pods[i].UID
		s, known := n.pods[uid]
		if !known {
			s = &series{uid: uid, window: NewWindow(n.policy.samples(n.policy.Aggregate))}
			n.pods[uid] = s
		}
		s.round = n.round
		n.order = append(n.order, s)
	}
	for uid, s := range n.pods {
		if s.round != n.round && snapshot.Time.Sub(s.seen) > n.policy.Aggregate {
			delete(n.pods, uid)
		}
	}
}
