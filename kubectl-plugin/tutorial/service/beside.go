package service

import (
	"context"
	"errors"
	"time"

	"koordinator.sh/koord/kubectl-plugin/tutorial"
	"koordinator.sh/koord/sandbox/realnode"
	"koordinator.sh/koord/sandbox/workload"
)

const (
	// turn is how long requests are sent with the engine, and then with its pods paused.
	turn = 10 * time.Second
	// settle is how long requests are sent before each turn.
	settle = time.Second
)

// MeasureBeside sends requests to the service at a rate while an engine runs, in turns with its pods paused, each for MeasureFor in all. What the
// machine does by itself changes over minutes, so that a service that was measured alone some minutes ago says little of what the engine adds.
func (s *Service) MeasureBeside(ctx context.Context, t *tutorial.Session, name string, rate float64, count Count) (Situation, error) {
	t.Tell("sending %g requests per second for %s, half of it with the pods of the engine paused", rate, warmUp+2*t.MeasureFor)
	if err := workload.ComeFirst(false); err != nil {
		return Situation{}, err
	}
	if _, err := s.send(ctx, t, rate, warmUp); err != nil {
		return Situation{}, err
	}
	var running, paused observed
	for left := t.MeasureFor; left > 0; left -= turn {
		if err := s.takeTurns(ctx, t, &running, &paused, rate, min(left, turn), count); err != nil {
			return Situation{}, err
		}
	}
	got, without := running.situation(name, rate), paused.situation("with the engine paused", rate)
	got.Paused = &without
	return got, nil
}

// takeTurns observes the service for a time beside the engine, and for as long with the engine paused.
func (s *Service) takeTurns(ctx context.Context, t *tutorial.Session, running, paused *observed, rate float64, length time.Duration, count Count) (err error) {
	before, err := count(ctx)
	if err != nil {
		return err
	}
	began := time.Now()
	if err := s.observe(ctx, t, running, rate, settle, length); err != nil {
		return err
	}
	took := time.Since(began)
	after, err := count(ctx)
	if err != nil {
		return err
	}
	running.done, running.during = running.done+after-before, running.during+took
	host := realnode.ThisHost()
	defer func() { err = errors.Join(err, host.ResumeBestEffort(t.Node)) }()
	if err := host.PauseBestEffort(t.Node); err != nil {
		return err
	}
	return s.observe(ctx, t, paused, rate, settle, length)
}
