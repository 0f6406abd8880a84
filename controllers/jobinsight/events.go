package jobinsight

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"

	"koordinator.sh/koord/api/finding"
	"koordinator.sh/koord/controllers/jobinsight/engines"
	"koordinator.sh/koord/decision/core/enginerun"
	"koordinator.sh/koord/decision/core/jobinsight"
)

// told is what an engine told, or why it could not be read.
type told struct {
	engine string
	events []enginerun.Event
	err    error
	// since takes the time from which the engine is read next; it holds one.
	since chan time.Time
}

// readers read all engines, each on its own, so that one that hangs keeps nobody waiting.
type readers struct {
	engines []engines.Engine
	clock   clock.WithTicker
	told    chan told
	running sync.WaitGroup
}

func newReaders(of []engines.Engine, clock clock.WithTicker) *readers {
	return &readers{engines: of, clock: clock, told: make(chan told)}
}

// start reads until the context ends. Then wait for the readers.
func (r *readers) start(ctx context.Context, store *jobinsight.Store) {
	for _, engine := range r.engines {
		since := store.EventsFrom(engine.Name)
		r.running.Go(func() { r.read(ctx, engine, since) })
	}
}

func (r *readers) read(ctx context.Context, engine engines.Engine, since time.Time) {
	ticker := r.clock.NewTicker(engine.Interval)
	defer ticker.Stop()
	for {
		events, err := engine.Read(ctx, since)
		next := make(chan time.Time, 1)
		select {
		case <-ctx.Done():
			return
		case r.told <- told{engine: engine.Name, events: events, err: err, since: next}:
		}
		select {
		case <-ctx.Done():
			return
		case since = <-next:
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C():
		}
	}
}

// learnEvents learns from what an engine told, and says from when it is read next.
func (c *collector) learnEvents(ctx context.Context, from told) {
	defer func() { from.since <- c.store.EventsFrom(from.engine) }()
	countRead(from.engine, from.err)
	c.readable(ctx, from.engine, from.err)
	slices.SortStableFunc(from.events, func(a, b enginerun.Event) int { return cmp.Or(a.Ended.Compare(b.Ended), cmp.Compare(a.ID, b.ID)) })
	for _, event := range from.events {
		if !c.store.Take(from.engine, event.ID, event.Ended, c.clock.Now()) {
			continue
		}
		c.dirty = true
		var trace enginerun.Trace
		run, ok := enginerun.Decide(event, c.sources, &trace)
		countEvent(from.engine, ok)
		if !ok {
			klog.FromContext(ctx).V(2).Info("Left out a run of an engine", "engine", from.engine, "id", event.ID, "reason", trace.LeftOut)
			continue
		}
		c.store.Observe(run)
		count(run.Outcome)
	}
}

// readable reports an engine that cannot be read any more, and one that can again.
func (c *collector) readable(ctx context.Context, engine string, err error) {
	unread := c.unread[engine]
	switch {
	case ctx.Err() != nil:
	case err == nil && unread:
		delete(c.unread, engine)
		klog.FromContext(ctx).Info("Engine can be read again", "engine", engine)
	case err != nil && !unread:
		c.unread[engine] = true
		code := finding.EngineEventsUnread
		klog.FromContext(ctx).Error(err, "Failed to read what an engine tells of jobs", "engine", engine, "code", code)
		about := &corev1.ConfigMap{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"},
			ObjectMeta: metav1.ObjectMeta{Namespace: c.namespace, Name: jobinsight.ConfigMapName(0)}}
		c.recorder.Eventf(about, nil, corev1.EventTypeWarning, code.Name(), "ReadEngine", "[%s] %s: %.800s", code, engine, err.Error())
	}
}
