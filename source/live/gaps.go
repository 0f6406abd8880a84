package live

import (
	"context"
	"errors"
	"slices"
	"sync"
)

// gaps collects what an answer lacks and why. It is safe for concurrent use.
type gaps struct {
	mu    sync.Mutex
	lines []string
}

// note turns an error into a gap with its consequence, for what an answer can do without. An interruption stays an error.
func (g *gaps) note(err error, consequence string) error {
	if err == nil || errors.Is(err, context.Canceled) {
		return err
	}
	g.add(text(err, consequence))
	return nil
}

// add notes a gap; empty text is none.
func (g *gaps) add(line string) {
	if line == "" {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.lines = append(g.lines, line)
}

// all gaps, ordered.
func (g *gaps) all() []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	slices.Sort(g.lines)
	return slices.Clone(g.lines)
}
