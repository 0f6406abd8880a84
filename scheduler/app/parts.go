package app

import (
	"k8s.io/kubernetes/pkg/scheduler"

	"koordinator.sh/koord/scheduler/state"
	"koordinator.sh/koord/scheduler/state/devices"
	"koordinator.sh/koord/scheduler/state/gangs"
	"koordinator.sh/koord/scheduler/state/quotas"
	"koordinator.sh/koord/scheduler/state/reservations"
	"koordinator.sh/koord/scheduler/state/topologies"
)

// Parts are what a Scheduler works with, for those who drive it step by step, or compare what it knows with the cluster.
// They must not be replaced once it runs.
type Parts struct {
	// Scheduler is that of Kubernetes, with its queue, cache and profiles.
	Scheduler *scheduler.Scheduler
	// The states that all profiles share.
	Cluster      *state.Cluster
	Topologies   *topologies.State
	Devices      *devices.State
	Quotas       *quotas.State
	Gangs        *gangs.State
	Reservations *reservations.State
}

// Parts of the scheduler.
func (s *Scheduler) Parts() Parts {
	return Parts{
		Scheduler: s.scheduler, Cluster: s.shared.cluster, Topologies: s.shared.topologies, Devices: s.shared.devices,
		Quotas: s.shared.quotas, Gangs: s.shared.gangs, Reservations: s.shared.reservations,
	}
}
