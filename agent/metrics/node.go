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
	node, system *Window
	pods         map[types.UID]*series
	// order holds the series of the previous snapshot's pods in its order, which the next one usually repeats.
	order []*series
	// round counts how often the set of pods changed.
	round uint64
}

// series is the measurement of one pod.
type series struct {
	uid  types.UID
	last host.Counter
	seen time.Time
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
// node less its pods, never below zero. A pod seen for the first time counts from zero since the previous snapshot,
// because its counters began with it. A snapshot that is not newer than the previous is dropped.
func (n *Node) Observe(snapshot *host.Snapshot) {
	first := n.lastAt.IsZero()
	if !first && !snapshot.Time.After(n.lastAt) {
		return
	}
	n.align(snapshot)
	var pods Usage
	for i := range snapshot.Pods {
		s, counter := n.order[i], snapshot.Pods[i].Counter
		since := s.seen
		if since.IsZero() {
			since = n.lastAt
		}
		usage := Usage{Memory: counter.Memory}
		if !first {
			usage.NanoCores = rate(s.last.CPU, counter.CPU, snapshot.Time.Sub(since))
			s.window.Add(snapshot.Time, usage)
		}
		pods = pods.Plus(usage.bounded())
		s.last, s.seen = counter, snapshot.Time
	}
	// A node's counter that went backwards means the machine restarted: what it used meanwhile is unknown.
	if !first && snapshot.Node.CPU >= n.last.CPU {
		used := Usage{
			NanoCores: rate(n.last.CPU, snapshot.Node.CPU, snapshot.Time.Sub(n.lastAt)),
			Memory:    snapshot.Node.Memory,
		}
		n.node.Add(snapshot.Time, used)
		n.system.Add(snapshot.Time, used.less(pods))
	}
	n.last, n.lastAt = snapshot.Node, snapshot.Time
}

// rate is the CPU time used between two readings, in billionths of a CPU, at most maxAmount. A counter that went backwards
// began anew.
func rate(before, after, elapsed time.Duration) int64 {
	if elapsed <= 0 {
		return 0
	}
	used := after - before
	if used < 0 {
		used = max(after, 0)
	}
	return int64(min(float64(used)/float64(elapsed)*1e9, maxAmount))
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
