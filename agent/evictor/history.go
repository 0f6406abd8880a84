package evictor

import (
	"context"
	"fmt"
	"slices"
	"time"

	"k8s.io/klog/v2"

	"koordinator.sh/koord/decision/nodeqos/eviction"
)

// Store keeps the times of evictions. See checkpoint.File.
type Store interface {
	Save(data any) error
	Load(data any) (bool, error)
}

// loadHistory returns the times of the evictions before the agent was started.
func loadHistory(history Store) ([]time.Time, error) {
	if history == nil {
		return nil, nil
	}
	var evicted []time.Time
	if _, err := history.Load(&evicted); err != nil {
		return nil, fmt.Errorf("read the history of evictions: %w", err)
	}
	return evicted, nil
}

// saveHistory keeps the times of evictions. It is called by who evicts.
func (e *Evictor) saveHistory(ctx context.Context) {
	if e.options.History == nil {
		return
	}
	e.mu.Lock()
	evicted := slices.Clone(e.evicted)
	e.mu.Unlock()
	if err := e.options.History.Save(evicted); err != nil {
		klog.FromContext(ctx).Error(err, "Failed to save the eviction history: the eviction budget starts over when koordlet restarts")
	}
}

// mostKept bounds the evicted pods that are remembered by their names.
const mostKept = 100

// Evicted is a pod that was evicted, and the feature that did it.
type Evicted struct {
	Namespace, Name string
	Feature         eviction.Feature
}

// Evicted are the pods of the latest 100 evictions since the agent was started, the oldest first.
func (e *Evictor) Evicted() []Evicted {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Clone(e.gone)
}

// recordEvicted remembers whom an eviction took. The lock is held.
func (e *Evictor) recordEvicted(victim eviction.Victim) {
	if len(e.gone) == mostKept {
		e.gone = slices.Delete(e.gone, 0, 1)
	}
	e.gone = append(e.gone, Evicted{Namespace: victim.Pod.Namespace, Name: victim.Pod.Name, Feature: victim.Feature})
}
