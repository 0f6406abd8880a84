package app

import (
	"fmt"
	"time"

	"k8s.io/client-go/informers"
	"k8s.io/client-go/rest"
	"k8s.io/kubernetes/pkg/scheduler"

	"koordinator.sh/koord/scheduler/part"
	"koordinator.sh/koord/scheduler/plugins"
)

// connect connects all parts to the cluster that config reaches. Nothing is watched before they run.
func connect(config *rest.Config, core informers.SharedInformerFactory) (part.Set, error) {
	parts, err := part.Connect(plugins.Parts(), &part.Cluster{Config: config, Informers: core, Now: time.Now})
	if err != nil {
		return nil, fmt.Errorf("set up the plugins: %w", err)
	}
	return parts, nil
}

// Parts of the scheduler, for those who compare what it knows with the cluster.
func (s *Scheduler) Parts() part.Set { return s.parts }

// Kubernetes is the scheduler of Kubernetes within this one, for those who drive it step by step. None of its parts may be
// replaced once it runs.
func (s *Scheduler) Kubernetes() *scheduler.Scheduler { return s.scheduler }
