package noderesource

import (
	"sync"

	"koordinator.sh/koord/decision/noderesource/overcommit"
)

// steadies remember how steady the measurements of each node are, for as long as this process leads. The zero value is empty.
// They are safe for concurrent use; each node is calculated by one worker at a time.
type steadies struct{ nodes sync.Map }

// of is what the last calculation found; zero before the first. Nil remembers nothing.
func (s *steadies) of(node string) overcommit.Steadiness {
	if s == nil {
		return overcommit.Steadiness{}
	}
	found, _ := s.nodes.Load(node)
	steadiness, _ := found.(overcommit.Steadiness)
	return steadiness
}

func (s *steadies) set(node string, steadiness overcommit.Steadiness) {
	if s != nil {
		s.nodes.Store(node, steadiness)
	}
}

func (s *steadies) forget(node string) {
	if s != nil {
		s.nodes.Delete(node)
	}
}
