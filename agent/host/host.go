// Package host is the machine as its agent sees it: how large it is, and counters of what was used. The readings are
// raw; everything over time - rates, averages, percentiles - is made of them by package metrics, the same way for a
// real machine and for a simulated one.
package host

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"koordinator.sh/koord/decision/core/podrequest"
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

// Snapshot is one reading of a machine. What a machine does not tell is left at zero or empty.
type Snapshot struct {
	// Time of the reading, by the machine's own clock.
	Time time.Time
	// Node counts everything that runs, pods included.
	Node Counter
	// Pressure on the whole node.
	Pressure Pressure
	// NUMANodes count what runs on the CPUs of each, and its memory, by id.
	NUMANodes []NUMACounter
	// Pods are those that run, each once, in an order that stays the same while the pods do. A pod that could not be
	// read is left out; the next reading that has it makes up for the time between.
	Pods []PodCounter
	// Containers of the pods, in the order of the pods. One that could not be read is left out.
	Containers []ContainerCounter
	// BestEffort counts the cgroup above all pods of the class BestEffort.
	BestEffort GroupCounter
	// Applications are the configured host applications, outside Kubernetes, that run.
	Applications []ApplicationCounter
}

// Counter is what something used, as a kernel accounts for it.
type Counter struct {
	// CPU time used since the beginning; it only grows, but for a restart, which sets it back to zero.
	CPU time.Duration
	// Memory in use right now, in bytes, without page cache that can be dropped: the working set less inactive file
	// pages for a pod, total less available for a node. That of a cgroup may be a few readings old while nothing runs in it, and
	// what of it is page cache while it moves little.
	Memory int64
	// Cache is the page cache in bytes that Memory leaves out.
	Cache int64
	// Cold is the part of Cache in bytes that was not touched for some time; 0 where the kernel keeps no record of that.
	Cold int64
}

// GroupCounter is what the kernel accounts for a cgroup.
type GroupCounter struct {
	Counter
	Details
}

// Details of a cgroup beside its usage.
type Details struct {
	Throttling Throttling
	Pressure   Pressure
	BlockIO    BlockIO
}

// Throttling counts what a CPU quota did.
type Throttling struct {
	// Periods in which the cgroup ran, and those of them in which it was throttled.
	Periods, Throttled int64
	// Time for which it was throttled.
	Time time.Duration
}

// Pressure counts how long tasks waited for a resource. At is when it was read, which may be before the snapshot that has it;
// zero where the kernel does not tell.
type Pressure struct {
	At              time.Time
	CPU, Memory, IO Stall
}

// Stall counts the time in which some of the tasks waited, and that in which all did.
type Stall struct {
	Some, Full time.Duration
}

// BlockIO counts bytes and operations on all block devices together. At is when they were read, zero where the kernel does
// not tell.
type BlockIO struct {
	At                      time.Time
	ReadBytes, WrittenBytes int64
	Reads, Writes           int64
}

// PodCounter is the counter of one pod.
type PodCounter struct {
	// UID of the pod.
	UID types.UID
	Counter
	Details
}

// ContainerCounter is the counter of one container.
type ContainerCounter struct {
	// Pod that the container belongs to, by UID.
	Pod types.UID
	// ID of the container, without the runtime's name.
	ID string
	Counter
	Details
}

// ApplicationCounter is the counter of one host application outside Kubernetes.
type ApplicationCounter struct {
	// Name of the application.
	Name string
	Counter
}

// NUMACounter is the counter of one NUMA node.
type NUMACounter struct {
	ID int32
	Counter
	// PodMemory is the part of Memory that pods use, in bytes.
	PodMemory int64
}

// Application runs on the machine outside of Kubernetes.
type Application struct {
	// Name of the application, which is unique on the machine.
	Name string
	// Cgroup of the application, relative to a hierarchy.
	Cgroup string
}
