package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	watchtools "k8s.io/client-go/tools/watch"

	"koordinator.sh/koord/api/extension"
)

// kind is a kind of objects of which there is one for each node.
type kind int

const (
	nodes kind = iota
	nodeSLOs
	nodeMetrics
	kinds
)

// ledger is what watches have reported of the nodes and their objects. It is safe for concurrent use.
type ledger struct {
	mu sync.Mutex
	// writes counts events by kind, and last is when the last one came.
	writes [kinds]int
	last   time.Time
	// offers is the batch-cpu of nodes in thousandths of a core, generations that of NodeSLOs, by node.
	offers, generations map[string]int64
	awaited             *change
	err                 error
}

// change is what a change of the configuration has to bring about.
type change struct {
	// offers are the new ones, and generations the old ones, of nodes that have not followed yet.
	offers, generations map[string]int64
	// done is closed at the moment finished, when all have.
	done     chan struct{}
	finished time.Time
}

func newLedger() *ledger {
	return &ledger{offers: map[string]int64{}, generations: map[string]int64{}, last: time.Now()}
}

// follow watches a collection from a version on until ctx ends.
func (l *ledger) follow(ctx context.Context, k kind, version string, source cache.WatcherWithContext) error {
	watcher, err := watchtools.NewRetryWatcherWithContext(ctx, version, source)
	if err != nil {
		return fmt.Errorf("watch: %w", err)
	}
	go func() {
		defer watcher.Stop()
		for event := range watcher.ResultChan() {
			l.see(k, event)
		}
		if ctx.Err() == nil {
			l.fail(errors.New("a watch ended"))
		}
	}()
	return nil
}

func (l *ledger) fail(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.err = errors.Join(l.err, err)
}

// see takes one event down.
func (l *ledger) see(k kind, event watch.Event) {
	if event.Type == watch.Error {
		l.fail(fmt.Errorf("watch: %v", event.Object))
		return
	}
	object, err := meta.Accessor(event.Object)
	if err != nil {
		l.fail(fmt.Errorf("watch: %w", err))
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.writes[k]++
	l.last = time.Now()
	switch k {
	case nodes:
		if node, ok := event.Object.(*corev1.Node); ok {
			if offer, offered := node.Status.Allocatable[extension.BatchCPU]; offered {
				l.offers[node.Name] = offer.Value()
			}
		}
	case nodeSLOs:
		l.generations[object.GetName()] = object.GetGeneration()
	}
	l.awaited.follow(l, object.GetName())
}

// follow crosses out what a node has followed. The ledger is locked.
func (c *change) follow(l *ledger, node string) {
	if c == nil || !c.finished.IsZero() {
		return
	}
	if want, waits := c.offers[node]; waits && l.offers[node] == want {
		delete(c.offers, node)
	}
	if old, waits := c.generations[node]; waits && l.generations[node] > old {
		delete(c.generations, node)
	}
	if len(c.offers)+len(c.generations) == 0 {
		c.finished = l.last
		close(c.done)
	}
}

// expect waits for offers that differ from the present ones by a number of thousandths of a core, unless that is 0, and for
// another generation of every NodeSLO where those are to change.
func (l *ledger) expect(difference int64, ofNodeSLOs bool) *change {
	l.mu.Lock()
	defer l.mu.Unlock()
	c := &change{offers: map[string]int64{}, generations: map[string]int64{}, done: make(chan struct{})}
	if difference != 0 {
		for node, offer := range l.offers {
			c.offers[node] = offer + difference
		}
	}
	if ofNodeSLOs {
		maps.Copy(c.generations, l.generations)
	}
	l.awaited = c
	return c
}

// missing says what is still to come before a change is complete.
func (l *ledger) missing(c *change) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	for node, want := range c.offers {
		return fmt.Sprintf("%d nodes and %d NodeSLOs have not followed; %s offers %d, want %d", len(c.offers), len(c.generations), node, l.offers[node], want)
	}
	return fmt.Sprintf("%d NodeSLOs have not followed", len(c.generations))
}

// state is the number of nodes with an offer and with a NodeSLO, when the last event came, and what went wrong.
func (l *ledger) state() (offers, generations int, last time.Time, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.offers), len(l.generations), l.last, l.err
}

// counted is how many events of each kind have come.
func (l *ledger) counted() [kinds]int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.writes
}

// quiet is how long no event comes once everything has settled.
const quiet = 5 * time.Second

// waitSettled waits until a number of nodes have an offer and a NodeSLO, and nothing has been written for a while.
func (l *ledger) waitSettled(ctx context.Context, count int) error {
	ctx, cancel := context.WithTimeout(ctx, waitTimeout)
	defer cancel()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		offers, generations, last, err := l.state()
		switch {
		case err != nil:
			return err
		case offers == count && generations == count && time.Since(last) >= quiet:
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%d of %d nodes have an offer, %d a NodeSLO, and the last write was %s ago: %w", offers, count, generations, time.Since(last), context.Cause(ctx))
		case <-tick.C:
		}
	}
}

// versionOf is the version of a collection that a list has returned.
func versionOf(list metav1.ListInterface, err error) (string, error) {
	if err != nil {
		return "", err
	}
	return list.GetResourceVersion(), nil
}
