package sloconfig

import (
	"context"
	"sync"
	"sync/atomic"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"koordinator.sh/koord/decision/core/configmerge"
)

// Store holds the configuration in force. It is safe for concurrent use.
type Store struct {
	current atomic.Pointer[configmerge.Config]

	mu          sync.Mutex
	subscribers []subscriber
}

// subscriber is woken when one of its keys changes.
type subscriber struct {
	keys   []string
	events chan event.GenericEvent
}

// NewStore returns a store that has not been loaded yet.
func NewStore() *Store { return &Store{} }

// Config returns the configuration in force, and false before it was first loaded. Until then nothing may be decided: the
// built-in default would take every batch resource back.
func (s *Store) Config() (configmerge.Config, bool) {
	config := s.current.Load()
	if config == nil {
		return configmerge.Config{}, false
	}
	return *config, true
}

// Set puts a configuration in force and wakes the subscribers to whose keys it differs from the one before.
func (s *Store) Set(config configmerge.Config) {
	s.mu.Lock()
	defer s.mu.Unlock()
	before := s.current.Swap(&config)
	for _, one := range s.subscribers {
		if before != nil && before.EqualIn(config, one.keys...) {
			continue
		}
		select {
		case one.events <- event.GenericEvent{Object: &corev1.ConfigMap{}}:
		default: // a wake-up is waiting already, and it will see this configuration
		}
	}
}

// Changes is a source that fires whenever one of some keys of the configuration changes, for a handler such as EveryNode: to
// look at all nodes of a large cluster takes seconds, which those whose turn it is need.
func (s *Store) Changes(handler handler.EventHandler, keys []string) source.Source {
	events := make(chan event.GenericEvent, 1)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.subscribers = append(s.subscribers, subscriber{keys, events})
	if s.current.Load() != nil {
		events <- event.GenericEvent{Object: &corev1.ConfigMap{}}
	}
	return source.Channel(events, handler)
}

// EveryNode enqueues all nodes the reader knows.
func EveryNode(reader client.Reader) handler.EventHandler {
	return handler.EnqueueRequestsFromMapFunc(func(ctx context.Context, _ client.Object) []reconcile.Request {
		var nodes corev1.NodeList
		if err := reader.List(ctx, &nodes, client.UnsafeDisableDeepCopy); err != nil {
			// The reader is a cache that has synced; it does not fail while the context lives.
			if ctx.Err() == nil {
				log.FromContext(ctx).Error(err, "Failed to list nodes after a configuration change")
			}
			return nil
		}
		requests := make([]reconcile.Request, 0, len(nodes.Items))
		for i := range nodes.Items {
			requests = append(requests, reconcile.Request{NamespacedName: types.NamespacedName{Name: nodes.Items[i].Name}})
		}
		return requests
	})
}
