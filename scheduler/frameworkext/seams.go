package frameworkext

import (
	"fmt"

	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler"
	internalcache "k8s.io/kubernetes/pkg/scheduler/backend/cache"
	internalqueue "k8s.io/kubernetes/pkg/scheduler/backend/queue"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"koordinator.sh/koord/scheduler/recorder"
)

// NextPodFn returns the next pod to find a node for. It waits until there is one.
type NextPodFn func(klog.Logger) (*framework.QueuedPodInfo, error)

// Seams are what one plugin changes about kube-scheduler where the plugin API does not reach. Each field wraps what is there
// before; nil leaves it as it is. They are installed in the order of the fields.
type Seams struct {
	// FailureHandler is called with a pod that found no node.
	FailureHandler func(built *scheduler.Scheduler, next scheduler.FailureHandlerFn) scheduler.FailureHandlerFn
	// Queue holds the pods that wait for a node, and hears of the events that may make them schedulable.
	Queue func(internalqueue.SchedulingQueue) internalqueue.SchedulingQueue
	// NextPod begins a scheduling cycle.
	NextPod func(built *scheduler.Scheduler, next NextPodFn) NextPodFn
	// Cache is what the scheduler knows of nodes and the pods on them.
	Cache func(internalcache.Cache) internalcache.Cache
	// Attach is called last, with a scheduler that does not run yet.
	Attach func(*scheduler.Scheduler) error
}

// Install extends a scheduler before it takes its first pod: profiles with what the plugins created for them offer, the failure
// handler with a recorder of attempts, and then whatever each of the Seams asks for, in order. Nothing else may replace a part of
// a scheduler.
func Install(built *scheduler.Scheduler, created func(profile string) []fwk.Plugin, attempts *recorder.Recorder, seams []Seams) error {
	for name, inner := range built.Profiles {
		built.Profiles[name] = Wrap(inner, created(name), attempts)
	}
	built.FailureHandler = RecordFailures(built.FailureHandler, attempts)
	return Apply(built, seams...)
}

// Apply installs Seams alone.
func Apply(built *scheduler.Scheduler, seams ...Seams) error {
	for _, s := range seams {
		if s.FailureHandler != nil {
			built.FailureHandler = s.FailureHandler(built, built.FailureHandler)
		}
		if s.Queue != nil {
			built.SchedulingQueue = s.Queue(built.SchedulingQueue)
			built.NextPod = built.SchedulingQueue.Pop
		}
		if s.NextPod != nil {
			built.NextPod = s.NextPod(built, built.NextPod)
		}
		if s.Cache != nil {
			built.Cache = s.Cache(built.Cache)
		}
		if s.Attach != nil {
			if err := s.Attach(built); err != nil {
				return fmt.Errorf("attach to the scheduler: %w", err)
			}
		}
	}
	return nil
}
