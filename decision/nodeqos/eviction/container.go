package eviction

import (
	"time"

	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/decision/core/podrequest"
)

// Container is a best-effort container of a scheduler outside of Kubernetes, such as YARN, as the agent of that scheduler reports it.
type Container struct {
	// Agent that the container belongs to, such as yarn; Namespace and Name by which the agent knows it.
	Agent, Namespace, Name string
	// Priority in the bands of pods; 0 is that of batch pods.
	Priority int32
	// Labels decide as those of pods do.
	Labels map[string]string
	// Created is when the container was started; a zero time is not known.
	Created time.Time
	// CPUTime that the container has used; nil when it was not measured.
	CPUTime *time.Duration
	// Requests are what its scheduler allocated to it.
	Requests podrequest.Amount
	// Used right now; nil when it was not measured.
	Used *podrequest.Amount
}

// ContainerOf reads a container at a time, for its eviction beside pods.
func ContainerOf(container *Container, now time.Time) Pod {
	priority := container.Priority
	if priority == 0 {
		bounds, _ := extension.PriorityBatch.Band()
		priority = bounds.Default
	}
	return Pod{
		Ref: Ref{Namespace: container.Namespace, Name: container.Name, UID: container.UID(), Agent: container.Agent},
		QoS: extension.QoSBE, Band: extension.PriorityBatch, Priority: priority, SubPriority: int64(priority), Active: true,
		Agrees: extension.IsPodEvictEnabled(container.Labels), Requests: podrequest.Tiers{Batch: container.Requests}, Used: container.Used,
		Work: container.work(now),
	}
}

// UID is unique on the node, and that of no pod.
func (c *Container) UID() string { return c.Agent + "/" + c.Name }

// work is what is lost when the container ends, in seconds of CPU time. Where that was not measured, the container is taken to have used
// what it requests, one core at least, since it was started.
func (c *Container) work(now time.Time) float64 {
	if c.CPUTime != nil {
		return max(c.CPUTime.Seconds(), 0)
	}
	if c.Created.IsZero() {
		return 0
	}
	const oneCore = 1000
	return max(now.Sub(c.Created).Seconds(), 0) * float64(max(c.Requests.MilliCPU, oneCore)) / oneCore
}

// IsContainer reports whether it is the container of a scheduler outside of Kubernetes.
func (r Ref) IsContainer() bool { return r.Agent != "" }

// Kind is what sentences call it: pod or container.
func (r Ref) Kind() string {
	if r.IsContainer() {
		return "container"
	}
	return "pod"
}
