package noderesource

import (
	"sync"

	"koordinator.sh/koord/decision/noderesource/overcommit"
)

// steadinessCache holds the steadiness of the measurements of each node while this process leads. The zero value is empty.
// It is safe for concurrent use; each node is calculated by one worker at a time.
type steadinessCache struct{ nodes sync.Map }

// of returns the steadiness of the last calculation; zero before the first and for a nil cache.
func (s *steadinessCache) of(node string) overcommit.Steadiness {
	if s == nil {
		return overcommit.Steadiness{}
	}
	found, _ := s.nodes.Load(node)
	steadiness, _ := found.(overcommit.Steadiness)
	return steadiness
}

func (s *steadinessCache) set(node string, steadiness overcommit.Steadiness) {
	if s != nil {
		s.nodes.Store(node, steadiness)
	}
}

func (s *steadinessCache) forget(node string) {
	if s != nil {
		s.nodes.Delete(node)
	}
}
