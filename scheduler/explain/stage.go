package explain

import (
	fwk "k8s.io/kube-scheduler/framework"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"

	"koordinator.sh/koord/scheduler/part"
)

// stage shows plugins one world at a time. Only its owner changes the world, and only between evaluations.
type stage struct {
	*world
	parts part.Set
	// simulations of the parts, in their order; empty for one that shares nothing.
	simulations []part.Simulation
}

func newStage(parts part.Set) *stage {
	s := &stage{world: &world{}, parts: parts, simulations: make([]part.Simulation, len(parts))}
	for i, instance := range parts {
		if instance.Simulate != nil {
			s.simulations[i] = instance.Simulate()
		}
	}
	return s
}

// registry makes plugins that read what is on the stage.
func (s *stage) registry() frameworkruntime.Registry {
	registry := s.parts.Registry()
	for i, simulation := range s.simulations {
		if simulation.Factory != nil {
			registry[s.parts[i].Name] = simulation.Factory
		}
	}
	return registry
}

func (s *stage) show(w *world) {
	s.world = w
	for i, simulation := range s.simulations {
		if simulation.Show != nil {
			simulation.Show(w.views[i])
		}
	}
}

// NodeInfos implements fwk.SharedLister.
func (s *stage) NodeInfos() fwk.NodeInfoLister { return s }

// StorageInfos implements fwk.SharedLister.
func (s *stage) StorageInfos() fwk.StorageInfoLister { return s }

// PodGroupStates implements fwk.SharedLister.
func (s *stage) PodGroupStates() fwk.PodGroupStateLister { return s.snapshot.PodGroupStates() }

var _ fwk.SharedLister = &stage{}
