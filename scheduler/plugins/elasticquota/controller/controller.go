package controller

import (
	"context"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/events"
	"k8s.io/client-go/util/flowcontrol"
	"k8s.io/klog/v2"

	schedulingsigsv1alpha1 "koordinator.sh/koord/api/schedulingsigs/v1alpha1"
	"koordinator.sh/koord/decision/scheduling/quota"
	"koordinator.sh/koord/scheduler/eventthrottle"
	"koordinator.sh/koord/scheduler/state/quotas"
)

const (
	// statusInterval is the time between two comparisons of what is known with what was written.
	statusInterval = 5 * time.Second
	// writeRate and writeBurst bound writes of ElasticQuotas a second, evictRate and evictBurst evictions.
	writeRate, writeBurst = 20, 40
	evictRate, evictBurst = 10, 20
)

// State is what the controller reads.
type State interface {
	WaitForSync(ctx context.Context) error
	Settings() *quota.Args
	// Quotas calls yield for every quota; Object is what is written to, Pods are those of a quota itself.
	Quotas(yield func(quotas.Quota) bool)
	Object(name string) *schedulingsigsv1alpha1.ElasticQuota
	Pods(name string) []quotas.PodHolding
	// Exists reports whether there is an object, also one that does not count; Counts whether a pod still does.
	Exists(namespace, name string) bool
	Counts(pod types.UID) bool
	// At returns an object, also one that does not count, and Problems what is wrong with objects.
	At(namespace, name string) *schedulingsigsv1alpha1.ElasticQuota
	Problems() []quota.Problem
	// Root is the status above all quotas of a tree; the ID of the default tree is empty.
	Root(treeID string) (quota.Status, bool)
	// Served is false while the cluster has no such resource.
	Served() bool
}

// Config of a controller.
type Config struct {
	State State
	// Quotas writes ElasticQuotas, Pods evicts.
	Quotas dynamic.Interface
	Pods   kubernetes.Interface
	// Recorder writes the events about evictions and problems.
	Recorder events.EventRecorder
	Now      func() time.Time
}

// Controller of one scheduler. Run must not be called twice.
type Controller struct {
	Config
	writes, evictions flowcontrol.RateLimiter
	// written is what was last written of each quota, and compared when its object was last read.
	written  map[string]written
	compared time.Time
	// overused is since when a quota uses more than it may; evicted are pods that were evicted and are not gone yet.
	overused map[string]time.Time
	evicted  map[types.UID]*corev1.Pod
	// announced are the problems reported in events; counted are those in the metric.
	announced *eventthrottle.Board[quota.Problem]
	counted   map[problemLabels]int
}

// New returns a controller that does nothing before Run.
func New(config Config) *Controller {
	registerMetrics()
	return &Controller{
		Config: config, announced: eventthrottle.NewBoard[quota.Problem](), written: map[string]written{}, overused: map[string]time.Time{}, evicted: map[types.UID]*corev1.Pod{},
		writes: flowcontrol.NewTokenBucketRateLimiter(writeRate, writeBurst), evictions: flowcontrol.NewTokenBucketRateLimiter(evictRate, evictBurst),
	}
}

// Run writes and evicts until the context ends, which it must when another scheduler becomes the leader. Failures are
// logged, and tried again.
func (c *Controller) Run(ctx context.Context) {
	for c.State.WaitForSync(ctx) != nil {
		if !sleep(ctx, time.Second) {
			return
		}
	}
	var running sync.WaitGroup
	defer running.Wait()
	running.Go(func() { c.every(ctx, statusInterval, "write the status of quotas", c.writeAll) })
	running.Go(func() {
		defer c.count(nil) // another scheduler counts from then on
		c.every(ctx, statusInterval, "report problems of quotas", c.announceAll)
	})
	if settings := c.State.Settings(); *settings.MonitorAllQuotas {
		running.Go(func() {
			c.every(ctx, settings.RevokePodInterval.Duration, "evict pods of overused quotas", c.revokeAll)
		})
	}
}

// every repeats a pass, the first one at once. A failure that repeats is logged once.
func (c *Controller) every(ctx context.Context, interval time.Duration, what string, pass func(context.Context) error) {
	last := ""
	for {
		err := pass(ctx)
		if ctx.Err() != nil {
			return
		}
		if err == nil {
			last = ""
		} else if last != err.Error() {
			last = err.Error()
			klog.FromContext(ctx).Error(fmt.Errorf("%s: %w", what, err), "It is tried again", "after", interval)
		}
		if !sleep(ctx, interval) {
			return
		}
	}
}

func sleep(ctx context.Context, interval time.Duration) bool {
	timer := time.NewTimer(interval)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}
