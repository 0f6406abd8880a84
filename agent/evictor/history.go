package evictor

import (
	"context"
	"fmt"
	"slices"
	"time"

	"k8s.io/klog/v2"
)

// Store keeps the times of evictions. See checkpoint.File.
type Store interface {
	Save(data any) error
	Load(data any) (bool, error)
}

// recall returns the times of the evictions before the agent was started.
func recall(history Store) ([]time.Time, error) {
	if history == nil {
		return nil, nil
	}
	var evicted []time.Time
	if _, err := history.Load(&evicted); err != nil {
		return nil, fmt.Errorf("read the history of evictions: %w", err)
	}
	return evicted, nil
}

// remember keeps the times of evictions. It is called by who evicts.
func (e *Evictor) remember(ctx context.Context) {
	if e.options.History == nil {
		return
	}
	e.mu.Lock()
	evicted := slices.Clone(e.evicted)
	e.mu.Unlock()
	if err := e.options.History.Save(evicted); err != nil {
		klog.FromContext(ctx).Error(err, "The history of evictions cannot be kept: the budget begins anew when the agent is started again")
	}
}
