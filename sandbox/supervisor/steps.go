package supervisor

import (
	"context"
	"fmt"
	"time"

	"k8s.io/klog/v2"

	"koordinator.sh/koord/api/finding"
	"koordinator.sh/koord/sandbox/control"
)

// step runs one named part of the start and shows it while it runs. The function may say how far it is.
func (s *Supervisor) step(ctx context.Context, name string, do func(ctx context.Context, detail func(string)) error) error {
	now := time.Now()
	s.mu.Lock()
	index := len(s.steps)
	s.steps = append(s.steps, control.Step{Name: name, Phase: control.Running, StartedAt: &now})
	s.mu.Unlock()
	err := do(ctx, func(detail string) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.steps[index].Detail = detail
	})
	ended := time.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.steps[index].EndedAt = &ended
	s.steps[index].Phase = control.Done
	if err != nil {
		s.steps[index].Phase = control.Failed
		return fmt.Errorf("%s: %w", name, err)
	}
	klog.InfoS("Step completed", "step", name, "took", ended.Sub(now).Round(time.Millisecond))
	return nil
}

// fail records why the sandbox did not start. What runs goes on running, so that it can be looked at.
func (s *Supervisor) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.phase, s.message = control.Failed, err.Error()
	s.code = string(finding.SandboxComponentFailed)
	if found, ok := finding.From(err); ok {
		s.code, s.hint = string(found.Code), found.Hint
	}
}
