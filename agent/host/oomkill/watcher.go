package oomkill

import (
	"cmp"
	"context"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"

	"koordinator.sh/koord/agent/host/cgroup"
	"koordinator.sh/koord/agent/host/files"
)

const (
	// DefaultInterval is how often counters are read when the kernel notifies of nothing.
	DefaultInterval = 10 * time.Second
	// minLookInterval bounds how often they are read when it does.
	minLookInterval = 100 * time.Millisecond
	// settleTime is how long they are read again and again after a notification: version 1 notifies before it kills. The same goes for what
	// it notifies of from now on, which it may have been about to kill.
	settleTime = time.Second
)

// Kill is processes that the kernel killed because memory ran out.
type Kill struct {
	// Time at which it was found.
	Time time.Time
	// Pod and the ID of the container that the processes belonged to. The container is empty when its cgroup has gone since, and
	// for processes that were in no container's.
	Pod       types.UID
	Container string
	// Processes that were killed.
	Processes int64
}

// Options of a Watcher.
type Options struct {
	// Tree of cgroups, and where they are in it.
	Tree   files.FS
	Layout cgroup.Layout
	// Clock is real time where the tree is the kernel's.
	Clock clock.WithTicker
	// Interval in which counters are read whatever the kernel notifies of; DefaultInterval when zero.
	Interval time.Duration
}

// Watcher finds processes that were killed. Run may be called once.
type Watcher struct {
	options Options
	tally   tally
}

// New returns a Watcher that does nothing until Run.
func New(options Options) *Watcher {
	options.Interval = cmp.Or(options.Interval, DefaultInterval)
	w := &Watcher{options: options, tally: tally{tree: options.Tree, layout: options.Layout, pods: map[types.UID]*pod{}, fresh: map[types.UID]bool{}}}
	w.tally.notifier = silent{clock: options.Clock}
	return w
}

// Run calls deliver for what is killed from now on until the context ends. It needs no other goroutine.
func (w *Watcher) Run(ctx context.Context, deliver func(Kill)) {
	if tree, real := w.options.Tree.(located); real {
		notices, err := newNotices(ctx, tree.Location(), w.options.Layout)
		if err == nil {
			defer notices.close()
			w.tally.notifier = notices
		} else {
			klog.FromContext(ctx).Error(err, "The kernel sends no notifications of OOM kills, reading its counters every "+w.options.Interval.String())
		}
	}
	schedule := schedule{interval: w.options.Interval}
	for where := (hint{all: true}); ; {
		now := w.options.Clock.Now()
		for _, kill := range w.tally.look(now, where) {
			deliver(kill)
		}
		schedule.looked(now, where, w.tally.fresh)
		if pause(ctx, w.options.Clock, minLookInterval) != nil {
			return
		}
		heard := w.tally.notifier.wait(ctx, schedule.wait(w.options.Clock.Now()))
		if ctx.Err() != nil {
			return
		}
		where = schedule.next(w.options.Clock.Now(), heard)
	}
}

func pause(ctx context.Context, clock clock.WithTicker, duration time.Duration) error {
	timer := clock.NewTimer(duration)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C():
		return nil
	}
}
