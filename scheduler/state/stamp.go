package state

import (
	"sync"
	"sync/atomic"
)

// stamps count, for each node, the changes of what the state knows of it, so that a reader that has seen a node can tell
// with one look that it is still the same.
type stamps struct {
	// nodes maps names to *atomic.Uint64. A node that is gone leaves its number behind.
	nodes sync.Map
}

func (s *stamps) of(node string) *atomic.Uint64 {
	if stamp, found := s.nodes.Load(node); found {
		return stamp.(*atomic.Uint64)
	}
	stamp, _ := s.nodes.LoadOrStore(node, &atomic.Uint64{})
	return stamp.(*atomic.Uint64)
}

func (s *stamps) touch(node string) { s.of(node).Add(1) }
