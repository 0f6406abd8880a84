package explain

import (
	fwk "k8s.io/kube-scheduler/framework"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"

	"koordinator.sh/koord/scheduler/part"
)

// simulatedState shows plugins one view of the cluster at a time. Only its owner changes the view, and only between evaluations.
type simulatedState struct {
	*clusterView
	parts part.Set
	// simulations of the parts, in their order; empty for one that shares nothing.
	simulations []part.Simulation
}

func newSimulatedState(parts part.Set) *simulatedState {
	s := &simulatedState{clusterView: &clusterView{}, parts: parts, simulations: make([]part.Simulation, len(parts))}
	for i, instance := range parts {
		if instance.Simulate != nil {
			s.simulations[i] = instance.Simulate()
		}
	}
	return s
}

// registry makes plugins that read the view that is shown.
func (s *simulatedState) registry() frameworkruntime.Registry {
	registry := s.parts.Registry()
	for i, simulation := range s.simulations {
		if simulation.Factory != nil {
			registry[s.parts[i].Name] = simulation.Factory
		}
	}
	return registry
}

func (s *simulatedState) show(w *clusterView) {
	s.clusterView = w
	for i, simulation := range s.simulations {
		if simulation.Show != nil {
			simulation.Show(w.views[i])
		}
	}
}

// NodeInfos implements fwk.SharedLister.
func (s *simulatedState) NodeInfos() fwk.NodeInfoLister { return s }

// StorageInfos implements fwk.SharedLister.
func (s *simulatedState) StorageInfos() fwk.StorageInfoLister { return s }

// PodGroupStates implements fwk.SharedLister.
func (s *simulatedState) PodGroupStates() fwk.PodGroupStateLister { return s.snapshot.PodGroupStates() }

var _ fwk.SharedLister = &simulatedState{}
