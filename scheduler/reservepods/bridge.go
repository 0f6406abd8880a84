package reservepods

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/scheduler"
	internalcache "k8s.io/kubernetes/pkg/scheduler/backend/cache"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/defaultpreemption"
	"k8s.io/kubernetes/pkg/scheduler/profile"

	decision "koordinator.sh/koord/decision/scheduling/reservation"
	"koordinator.sh/koord/scheduler/frameworkext"
	"koordinator.sh/koord/scheduler/plugins/reservation"
	"koordinator.sh/koord/scheduler/state/reservations"
)

// preferredScheduler is the profile for Reservations that name none, where it exists.
const preferredScheduler = "koord-scheduler"

// settleTimeout bounds the wait for Reservations before the first pod is scheduled. A scheduler that may not read them must
// not stand still for ever.
const settleTimeout = 30 * time.Second

// Bridge connects Reservations with one scheduler. Install its Seams before informers start, and Run it.
type Bridge struct {
	state  *reservations.State
	writer reservations.Writer
	now    func() time.Time

	scheduler *scheduler.Scheduler
	// profile for Reservations that name none.
	profile string

	// messages of failed attempts to be written, by the name of the Reservation.
	mutex    sync.Mutex
	messages map[string]attempt
	outbox   workqueue.TypedRateLimitingInterface[string]
	// freed are reserve pods that gave room back.
	freed workqueue.TypedInterface[*corev1.Pod]
	// opened are reservations that pods may use which may not have been able to before.
	opened workqueue.TypedInterface[types.UID]
}

// New returns a Bridge that no scheduler uses yet.
func New(state *reservations.State, writer reservations.Writer, now func() time.Time) *Bridge {
	return &Bridge{
		state: state, writer: writer, now: now, messages: map[string]attempt{}, freed: workqueue.NewTyped[*corev1.Pod](),
		opened: workqueue.NewTyped[types.UID](),
		outbox: workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[string]()),
	}
}

// Seams install the bridge in a scheduler that does not run yet.
func (b *Bridge) Seams() frameworkext.Seams {
	var inner internalcache.Cache
	return frameworkext.Seams{
		Cache: func(cache internalcache.Cache) internalcache.Cache {
			inner = cache
			return &showingCache{Cache: cache, state: b.state}
		},
		FailureHandler: func(_ *scheduler.Scheduler, next scheduler.FailureHandlerFn) scheduler.FailureHandlerFn {
			return b.failureHandler(next)
		},
		NextPod: func(_ *scheduler.Scheduler, next frameworkext.NextPodFn) frameworkext.NextPodFn {
			return b.settled(next)
		},
		Attach: func(built *scheduler.Scheduler) error { return b.attach(built, inner) },
	}
}

// attach connects the bridge with a scheduler and the cache that its own stands before.
func (b *Bridge) attach(sched *scheduler.Scheduler, inner internalcache.Cache) error {
	if len(sched.Profiles) == 0 {
		return fmt.Errorf("attach reservations: the scheduler has no profile")
	}
	b.scheduler = sched
	b.profile = DefaultProfile(sched.Profiles)
	for _, profile := range sched.Profiles {
		for _, plugin := range profile.PreEnqueuePlugins() {
			if preemption, ok := plugin.(*defaultpreemption.DefaultPreemption); ok {
				reservation.Guard(preemption, b.state, b.evict)
			}
		}
	}
	if _, err := b.state.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(object any) { b.observe(nil, object) },
		UpdateFunc: b.observe,
		DeleteFunc: b.gone,
	}); err != nil {
		return fmt.Errorf("attach reservations: %w", err)
	}
	b.state.AddOpenHandler(b.opened.Add)
	b.state.Attach(&holder{cache: inner, freed: b.freed})
	return nil
}

// DefaultProfile names the profile for Reservations that name none: koord-scheduler, or else the first by name; empty without
// profiles.
func DefaultProfile(profiles profile.Map) string {
	if len(profiles) == 0 {
		return ""
	}
	if _, found := profiles[preferredScheduler]; found {
		return preferredScheduler
	}
	return slices.Sorted(maps.Keys(profiles))[0]
}

// settled holds up the first pod until reserved room is known.
func (b *Bridge) settled(next frameworkext.NextPodFn) frameworkext.NextPodFn {
	var once sync.Once
	return func(logger klog.Logger) (*framework.QueuedPodInfo, error) {
		once.Do(func() {
			ctx, cancel := context.WithTimeout(wait.ContextForChannel(b.scheduler.StopEverything), settleTimeout)
			defer cancel()
			if err := wait.PollUntilContextCancel(ctx, 20*time.Millisecond, true, func(context.Context) (bool, error) { return b.state.Settled(), nil }); err != nil {
				logger.Error(err, "Scheduling pods before the Reservations are known; reserved resources may be allocated to other pods")
			}
		})
		return next(logger)
	}
}

// Run writes what the scheduler decided about Reservations, and wakes pods when room is given back, until the context ends.
func (b *Bridge) Run(ctx context.Context) {
	var workers sync.WaitGroup
	workers.Go(func() { b.writeMessages(ctx) })
	workers.Go(func() { b.wakePods(klog.FromContext(ctx)) })
	workers.Go(func() { b.wakeOwners(klog.FromContext(ctx)) })
	<-ctx.Done()
	b.Discard()
	workers.Wait()
}

// Discard ends a Bridge that does not run; its queues work from New on. It may be called more than once.
func (b *Bridge) Discard() {
	b.outbox.ShutDown()
	b.freed.ShutDown()
	b.opened.ShutDown()
}

// wakePods notifies the queue that room was given back, as when a pod is deleted.
func (b *Bridge) wakePods(logger klog.Logger) {
	for {
		pod, shutdown := b.freed.Get()
		if shutdown {
			return
		}
		b.scheduler.SchedulingQueue.MoveAllToActiveOrBackoffQueue(logger, framework.EventAssignedPodDelete, pod, nil, nil)
		b.freed.Done(pod)
	}
}

// wakeOwners notifies the scheduler's queue that a reservation can be used. An owner that found no room before was refused for
// the node's resources, not by the plugin of reservations, so that no event of a Reservation would wake it. Owners are therefore
// woken as if a pod of the reservation's size had been deleted.
func (b *Bridge) wakeOwners(logger klog.Logger) {
	for {
		uid, shutdown := b.opened.Get()
		if shutdown {
			return
		}
		if view, active := b.state.ByUID(uid); active && view.Held != nil {
			b.scheduler.SchedulingQueue.MoveAllToActiveOrBackoffQueue(logger, framework.EventAssignedPodDelete, view.Held, nil, func(pod *corev1.Pod) bool {
				return mayUse(pod, view)
			})
		}
		b.opened.Done(uid)
	}
}

// mayUse reports whether a pod is an owner of a reservation that accepts it.
func mayUse(pod *corev1.Pod, view *reservations.View) bool {
	if pod.UID == view.UID || !view.MatchesOwner(pod) {
		return false
	}
	demand, err := decision.NewDemand(pod)
	return err == nil && decision.Match(demand, view.Reservation, view.Use).Passed()
}
