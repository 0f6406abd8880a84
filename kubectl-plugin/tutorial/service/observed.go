package service

import (
	"context"
	"time"

	"koordinator.sh/koord/kubectl-plugin/tutorial"
	"koordinator.sh/koord/sandbox/workload"
)

// warmUp is the time in which caches fill, before a situation is measured.
const warmUp = 4 * time.Second

// observed is what was seen of one situation so far.
type observed struct {
	// took is how long the requests took.
	took []time.Duration
	// cpu is the CPU time of the machine meanwhile.
	cpu workload.CPUTime
	// done is what the engine did, and during how long that took.
	done   int64
	during time.Duration
}

// observe sends requests to the service, and adds what is seen of them after some time.
func (s *Service) observe(ctx context.Context, t *tutorial.Session, into *observed, rate float64, after, length time.Duration) error {
	if _, err := s.send(ctx, t, rate, after); err != nil {
		return err
	}
	before, err := workload.MachineCPUTime()
	if err != nil {
		return err
	}
	took, err := s.send(ctx, t, rate, length)
	if err != nil {
		return err
	}
	now, err := workload.MachineCPUTime()
	if err != nil {
		return err
	}
	into.took = append(into.took, took...)
	into.cpu.Used += now.Used - before.Used
	into.cpu.Total += now.Total - before.Total
	return nil
}

// situation sums up what was seen.
func (o *observed) situation(name string, rate float64) Situation {
	out := Situation{Name: name, Rate: rate, Summary: workload.Summarize(o.took), Used: o.cpu.Since(workload.CPUTime{})}
	if o.during > 0 {
		out.Progress = float64(o.done) / o.during.Seconds()
	}
	return out
}

// send sends requests, and returns how long they took. One that fails, as they do where the machine is too busy, was a slow one.
func (s *Service) send(ctx context.Context, t *tutorial.Session, rate float64, duration time.Duration) ([]time.Duration, error) {
	took, err := workload.Send(ctx, s.target, rate, duration)
	if err != nil && ctx.Err() == nil {
		t.Tell("not all requests were answered: %v", err)
		return took, nil
	}
	return took, err
}
