package thirdparty

import (
	"time"

	"koordinator.sh/koord/decision/core/podrequest"
)

// Amount is cpu in milli-cores and memory in bytes, both of batch.
type Amount = podrequest.Amount

// Input is one node as both sides show it.
type Input struct {
	// Origin is what the node has in batch before other schedulers take their part.
	Origin Amount
	// Offered is what the node offers to pods, after it.
	Offered Amount
	// Pods is what pods bound to the node, and reservations on it, request of batch.
	Pods Amount
	// Others is what third-party schedulers other than this one took.
	Others Amount
	// Taken is what Kubernetes counts as taken by this engine.
	Taken Amount
	// Capacity is what the engine may allocate up to, and Allocated what it has allocated, as it says itself.
	Capacity, Allocated Amount
	// Most is what the engine can use of the node at most, because it knows how large the node is; nothing bounds a resource of zero.
	Most Amount
	// Claimed is true when a pod that waits needs what is free of this node; see Claims.
	Claimed bool
	// EngineWaits is true when the engine has something pending.
	EngineWaits bool
	// Stopped is true when the node is to take no work of the engine, such as a cordoned one: the engine keeps what it has allocated
	// until it is done.
	Stopped bool
	Now     time.Time
}

// Memory is what must be remembered of a node between two decisions. The zero value is that of a process that has just started.
type Memory struct {
	// Sent is the last capacity that was sent to the engine, at SentAt, and nothing is known of one while SentAt is zero.
	Sent   Amount
	SentAt time.Time
	// Failed is set by the caller when the engine could not be told, so that it is told again.
	Failed bool
	// passing is the largest capacity of those that were replaced by another before the engine confirmed them; it may still pass
	// through them.
	passing Amount
	// allocated is what the engine had allocated in the last decision. YARN shows a node that is being resized as empty for an instant, so that
	// what is gone must be gone twice.
	allocated Amount
	// cpu and memory are what the node has held back from pods for a while.
	cpu, memory held
	// began is the time of the first decision.
	began time.Time
}

// held is the most that the node has kept from pods during all of the last Args.Settle.
type held struct {
	sure int64
	// candidate has been kept since a time.
	candidate int64
	since     time.Time
}

// observe takes what the node keeps from pods at a time.
func (h *held) observe(kept int64, now time.Time, settle time.Duration) {
	h.sure = min(h.sure, kept)
	switch {
	case h.since.IsZero(), kept > h.candidate && h.candidate <= h.sure:
		h.candidate, h.since = kept, now
	case kept < h.candidate:
		h.candidate = kept
	}
	if now.Sub(h.since) >= settle {
		h.sure = max(h.sure, h.candidate)
		h.candidate, h.since = kept, now
	}
}

// send takes that a capacity is sent, while the one before is unconfirmed or not.
func (m *Memory) send(capacity Amount, now time.Time, unconfirmed bool) {
	if unconfirmed && capacity != m.Sent {
		m.passing = Amount{MilliCPU: max(m.passing.MilliCPU, m.Sent.MilliCPU), Memory: max(m.passing.Memory, m.Sent.Memory)}
	}
	m.Sent, m.SentAt, m.Failed = capacity, now, false
}
