package service

import (
	"context"
	"errors"
	"fmt"

	"koordinator.sh/koord/kubectl-plugin/tutorial"
	"koordinator.sh/koord/sandbox/workload"
)

// ServeAlone starts the service and measures it without an engine.
func (s *Service) ServeAlone(ctx context.Context, t *tutorial.Session) (err error) {
	if err := s.Start(ctx, t); err != nil {
		return err
	}
	if s.AloneHigh, err = s.MeasureAlone(ctx, t, s.High); err != nil {
		return err
	}
	if s.AloneLow, err = s.MeasureAlone(ctx, t, Low); err != nil {
		return err
	}
	_, err = t.Koordctl(ctx, "top", "nodes")
	return err
}

// SeenAlone says what was measured.
func (s *Service) SeenAlone() string {
	return fmt.Sprintf("With %d requests a second, %s of the machine's CPU is used, and the p99 is %s; with %d it is %s, and %s.",
		Low, Percent(s.AloneLow.Used), Milliseconds(s.AloneLow.P99), int(s.High), Percent(s.AloneHigh.Used), Milliseconds(s.AloneHigh.P99))
}

// Served returns an error unless the service has answered requests.
func (s *Service) Served(context.Context, *tutorial.Session) error {
	if s.AloneLow.Requests == 0 || s.AloneHigh.Requests == 0 {
		return errors.New("the service answered no requests")
	}
	return nil
}

// MeasureAlone sends requests to the service at a rate, and says what was seen meanwhile.
func (s *Service) MeasureAlone(ctx context.Context, t *tutorial.Session, rate float64) (Situation, error) {
	t.Tell("sending %g requests per second for %s", rate, warmUp+t.MeasureFor)
	if err := workload.ComeFirst(false); err != nil {
		return Situation{}, err
	}
	var seen observed
	err := s.observe(ctx, t, &seen, rate, warmUp, t.MeasureFor)
	return seen.situation("service alone", rate), err
}
