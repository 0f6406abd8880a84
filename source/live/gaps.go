package live

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/finding"
	"koordinator.sh/koord/decision/core/unknown"
)

// gaps collects what an answer lacks and why. It is safe for concurrent use.
type gaps struct {
	mu     sync.Mutex
	lines  []string
	inputs unknown.Inputs
}

// note turns the error of reading an input into a gap with its consequence, for what an answer can do without. An
// interruption stays an error. A kind of object that the cluster does not have is not unknown: there are none of it.
func (g *gaps) note(err error, input unknown.Input, consequence string) error {
	if err == nil || errors.Is(err, context.Canceled) {
		return err
	}
	if !hasCode(err, finding.NotInstalled) {
		reason := diagnosticsv1alpha1.UnknownFailed
		if hasCode(err, finding.Forbidden) {
			reason = diagnosticsv1alpha1.UnknownForbidden
		}
		g.unread(input, unknown.Cause{Reason: reason, Message: err.Error()})
	}
	g.add(text(err, consequence))
	return nil
}

// unread notes an input that could not be read.
func (g *gaps) unread(input unknown.Input, cause unknown.Cause) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.inputs == nil {
		g.inputs = unknown.Inputs{}
	}
	g.inputs[input] = cause
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

// unknown are the inputs that could not be read.
func (g *gaps) unknown() unknown.Inputs {
	g.mu.Lock()
	defer g.mu.Unlock()
	return maps.Clone(g.inputs)
}
