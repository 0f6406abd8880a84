package metrics

import (
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// LatestUsage returns what the node used until a moment, at which a reading was taken. Its memory, like that of all the latest
// usages, leaves out page cache, whatever the policy reports.
func (n *Node) LatestUsage(at time.Time) (Usage, bool) { return n.recent.within(at, n.policy.Period) }

// LatestPodUsage is LatestUsage for a pod.
func (n *Node) LatestPodUsage(uid types.UID, at time.Time) (Usage, bool) {
	s, known := n.pods[uid]
	if !known {
		return Usage{}, false
	}
	return s.recent.within(at, n.policy.Period)
}

// LatestContainerUsage is LatestUsage for a container.
func (n *Node) LatestContainerUsage(id string, at time.Time) (Usage, bool) {
	c, known := n.containers.byID[id]
	if !known {
		return Usage{}, false
	}
	return c.recent.within(at, n.policy.Period)
}

// LatestBestEffortUsage is LatestUsage for all pods of the class BestEffort together.
func (n *Node) LatestBestEffortUsage(at time.Time) (Usage, bool) {
	return n.bestEffort.recent.within(at, n.policy.Period)
}

// LatestApplicationUsage is LatestUsage for an host application outside Kubernetes.
func (n *Node) LatestApplicationUsage(name string, at time.Time) (Usage, bool) {
	found := n.applications.named(name)
	if found == nil {
		return Usage{}, false
	}
	return found.recent.within(at, n.policy.Period)
}

// ApplicationUsage returns an application's average over the part of the aggregate window in which it ran.
func (n *Node) ApplicationUsage(name string, at time.Time) (Usage, bool) {
	found := n.applications.named(name)
	if found == nil {
		return Usage{}, false
	}
	return found.window.Average(at, n.policy.Aggregate)
}

// PodThrottling returns how a pod's CPU quota throttled it between the latest two regular readings.
func (n *Node) PodThrottling(uid types.UID) (Throttling, bool) {
	s, known := n.pods[uid]
	if !known || s.details == nil {
		return Throttling{}, known
	}
	return s.details.throttling, true
}

// ContainerThrottling is PodThrottling for a container.
func (n *Node) ContainerThrottling(id string) (Throttling, bool) {
	c, known := n.containers.byID[id]
	if !known || c.details == nil {
		return Throttling{}, known
	}
	return c.details.throttling, true
}

// NodePressure returns the pressure on the node over its latest window; false where the kernel does not show it, or not yet.
func (n *Node) NodePressure() (Pressure, bool) {
	return n.pressure.latest, !n.pressure.latest.To.IsZero()
}

// PodPressure is NodePressure for a pod.
func (n *Node) PodPressure(uid types.UID) (Pressure, bool) {
	s, known := n.pods[uid]
	if !known || s.details == nil {
		return Pressure{}, false
	}
	latest := s.details.pressures.latest
	return latest, !latest.To.IsZero()
}

// ContainerPressure is NodePressure for a container.
func (n *Node) ContainerPressure(id string) (Pressure, bool) {
	c, known := n.containers.byID[id]
	if !known || c.details == nil {
		return Pressure{}, false
	}
	latest := c.details.pressures.latest
	return latest, !latest.To.IsZero()
}

// PodBlockIO returns what a pod read from and wrote to block devices, over the window of its pressure.
func (n *Node) PodBlockIO(uid types.UID) (BlockIO, bool) {
	s, known := n.pods[uid]
	if !known || s.details == nil {
		return BlockIO{}, false
	}
	return s.details.blockIO, !s.details.io.At.IsZero()
}
