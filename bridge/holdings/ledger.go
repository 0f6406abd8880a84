// Package holdings keeps what pods and reservations hold of the batch resources of each node, and which pods run an engine's agent there.
package holdings

import (
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"koordinator.sh/koord/api/extension"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	"koordinator.sh/koord/decision/core/podrequest"
)

// Ledger is filled by the handlers of informers and may be read at any time. The zero value is not ready; NewLedger makes one.
type Ledger struct {
	// agent selects the pods that are kept.
	agent func(*corev1.Pod) bool
	// changed is called after each change that can matter.
	changed func()

	mu      sync.RWMutex
	entries map[types.UID]entry
	nodes   map[string]*node
	// waiting are the pods that wait for batch resources.
	waiting map[types.UID]podrequest.Amount
}

// entry is what one pod or reservation holds.
type entry struct {
	node   string
	amount podrequest.Amount
	waits  bool
	agent  *corev1.Pod
}

type node struct {
	held   podrequest.Amount
	agents map[types.UID]*corev1.Pod
	// entries counts those of the node.
	entries int
}

// NewLedger returns an empty ledger. Agent selects the pods to be kept, and changed is called after each change, without a lock.
func NewLedger(agent func(*corev1.Pod) bool, changed func()) *Ledger {
	return &Ledger{agent: agent, changed: changed, entries: map[types.UID]entry{}, nodes: map[string]*node{}, waiting: map[types.UID]podrequest.Amount{}}
}

// Of is what pods and reservations hold of a node, and the agents on it, in no order.
func (l *Ledger) Of(name string) (held podrequest.Amount, agents []*corev1.Pod) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	n := l.nodes[name]
	if n == nil {
		return podrequest.Amount{}, nil
	}
	for _, pod := range n.agents {
		agents = append(agents, pod)
	}
	return n.held, agents
}

// Waiting is what pods request of batch that could not be scheduled, of at most limit pods.
func (l *Ledger) Waiting(limit int) (amounts []podrequest.Amount) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	for _, amount := range l.waiting {
		if len(amounts) == limit {
			break
		}
		amounts = append(amounts, amount)
	}
	return amounts
}

// SetPod takes the state of a pod.
func (l *Ledger) SetPod(pod *corev1.Pod) { l.set(pod.UID, l.podEntry(pod)) }

// SetReservation takes the state of a reservation: what it holds beyond what its owners, which are pods, took of it.
func (l *Ledger) SetReservation(reservation *schedulingv1alpha1.Reservation) {
	l.set(reservation.UID, reservationEntry(reservation))
}

// Remove takes that a pod or reservation is gone.
func (l *Ledger) Remove(uid types.UID) { l.set(uid, entry{}) }

func (l *Ledger) podEntry(pod *corev1.Pod) entry {
	if !podrequest.Consumes(pod) {
		return entry{}
	}
	out := entry{node: pod.Spec.NodeName, amount: podrequest.Of(pod).Requests.Batch}
	if out.node == "" {
		out.waits = out.amount != (podrequest.Amount{}) && unschedulable(pod)
		return out
	}
	if l.agent(pod) {
		out.agent = pod
	}
	return out
}

func unschedulable(pod *corev1.Pod) bool {
	for i := range pod.Status.Conditions {
		c := &pod.Status.Conditions[i]
		if c.Type == corev1.PodScheduled {
			return c.Status == corev1.ConditionFalse && c.Reason == corev1.PodReasonUnschedulable
		}
	}
	return false
}

func reservationEntry(r *schedulingv1alpha1.Reservation) entry {
	if r.Status.Phase != schedulingv1alpha1.ReservationAvailable && r.Status.Phase != schedulingv1alpha1.ReservationWaiting {
		return entry{}
	}
	left := func(name corev1.ResourceName) int64 {
		all, taken := r.Status.Allocatable[name], r.Status.Allocated[name]
		return max(all.Value()-taken.Value(), 0)
	}
	return entry{node: r.Status.NodeName, amount: podrequest.Amount{MilliCPU: left(extension.BatchCPU), Memory: left(extension.BatchMemory)}}
}

// most bounds what one of them counts for, so that sums cannot overflow: a petabyte, or a trillion cores.
const most = 1 << 50

// set replaces what one of them holds.
func (l *Ledger) set(uid types.UID, next entry) {
	next.amount.MilliCPU, next.amount.Memory = min(next.amount.MilliCPU, most), min(next.amount.Memory, most)
	if next.node == "" && !next.waits {
		next = entry{}
	}
	l.mu.Lock()
	before, known := l.entries[uid]
	same := before.node == next.node && before.amount == next.amount && before.waits == next.waits && (before.agent == nil) == (next.agent == nil)
	if known {
		l.take(uid, before, -1)
		delete(l.entries, uid)
	}
	if next != (entry{}) {
		l.entries[uid] = next
		l.take(uid, next, 1)
	}
	l.mu.Unlock()
	if !same {
		l.changed()
	}
}

// take adds an entry to the sums, or takes it out of them.
func (l *Ledger) take(uid types.UID, e entry, sign int64) {
	if e.waits {
		delete(l.waiting, uid)
		if sign > 0 {
			l.waiting[uid] = e.amount
		}
	}
	if e.node == "" {
		return
	}
	n := l.nodes[e.node]
	if n == nil {
		n = &node{agents: map[types.UID]*corev1.Pod{}}
		l.nodes[e.node] = n
	}
	n.held.MilliCPU += sign * e.amount.MilliCPU
	n.held.Memory += sign * e.amount.Memory
	n.entries += int(sign)
	if e.agent != nil {
		delete(n.agents, uid)
		if sign > 0 {
			n.agents[uid] = e.agent
		}
	}
	if n.entries == 0 {
		delete(l.nodes, e.node)
	}
}
