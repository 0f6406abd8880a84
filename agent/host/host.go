// Package host is the machine as its agent sees it: how large it is, and counters of what was used. The readings are
// raw; everything over time - rates, averages, percentiles - is made of them by package metrics, the same way for a
// real machine and for a simulated one.
package host

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"koordinator.sh/koord/decision/podrequest"
)

// Host is a machine. An implementation need not be safe for concurrent use: one agent owns it.
type Host interface {
	// Capacity returns the physical size of the machine, before anything is reserved.
	Capacity(ctx context.Context) (podrequest.Amount, error)
	// Topology returns how the machine is built. It stays the same while the machine runs, but for CPUs that are taken
	// offline or brought back.
	Topology(ctx context.Context) (Topology, error)
	// Read takes one reading of everything and stores it into a snapshot, whose memory it reuses: reading a machine
	// whose pods did not change allocates nothing. After an error the snapshot's content is undefined.
	Read(ctx context.Context, into *Snapshot) error
}

// Snapshot is one reading of a machine.
type Snapshot struct {
	// Time of the reading, by the machine's own clock.
	Time time.Time
	// Node counts everything that runs, pods included.
	Node Counter
	// Pods are those that run, each once, in an order that stays the same while the pods do. A pod that could not be
	// read is left out; the next reading that has it makes up for the time between.
	Pods []PodCounter
}

// Counter is what something used, as a kernel accounts for it.
type Counter struct {
	// CPU time used since the beginning; it only grows, but for a restart, which sets it back to zero.
	CPU time.Duration
	// Memory in use right now, in bytes, without page cache that can be dropped: the working set less inactive file
	// pages for a pod, total less available for a node.
	Memory int64
}

// PodCounter is the counter of one pod.
type PodCounter struct {
	// UID of the pod.
	UID types.UID
	Counter
}
