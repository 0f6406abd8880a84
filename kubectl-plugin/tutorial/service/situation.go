package service

import (
	"context"
	"fmt"
	"math"
	"time"

	"koordinator.sh/koord/kubectl-plugin/tutorial"
	"koordinator.sh/koord/sandbox/workload"
)

// warmUp is the time in which caches fill, before a situation is measured.
const warmUp = 4 * time.Second

// Situation is what was measured of the service and the machine while an engine did something.
type Situation struct {
	// Name of the situation.
	Name string
	// Rate of the requests, per second.
	Rate float64
	// Summary of how long the requests took.
	workload.Summary
	// Used is the share of the machine's CPU time, 0 to 1.
	Used float64
	// Progress of the engine, per second; 0 where none runs.
	Progress float64
}

// Count says how far an engine is, such as how many tasks it has done so far.
type Count func(context.Context) (int64, error)

// Measure sends requests to the service at a rate, and says what was seen meanwhile. count is nil where no engine runs.
func (s *Service) Measure(ctx context.Context, t *tutorial.Session, name string, rate float64, count Count) (Situation, error) {
	t.Tell("sending %g requests per second for %s", rate, warmUp+t.MeasureFor)
	got := Situation{Name: name, Rate: rate}
	if count == nil {
		count = func(context.Context) (int64, error) { return 0, nil }
	}
	if err := workload.ComeFirst(false); err != nil {
		return got, err
	}
	if _, err := s.send(ctx, t, rate, warmUp); err != nil {
		return got, err
	}
	doneBefore, err := count(ctx)
	if err != nil {
		return got, err
	}
	began := time.Now()
	before, err := workload.MachineCPUTime()
	if err != nil {
		return got, err
	}
	took, err := s.send(ctx, t, rate, t.MeasureFor)
	if err != nil {
		return got, err
	}
	after, err := workload.MachineCPUTime()
	if err != nil {
		return got, err
	}
	done, err := count(ctx)
	if err != nil {
		return got, err
	}
	got.Summary, got.Used = workload.Summarize(took), after.Since(before)
	got.Progress = float64(done-doneBefore) / time.Since(began).Seconds()
	return got, nil
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

// Table has a row for each situation, compared with those without an engine. progress is the heading of what the engine did, and per the
// seconds that it is counted in: 1 for what was done per second, 60 for what was done per minute.
func Table(progress string, per float64, situations ...Situation) [][]string {
	rows := [][]string{{"SITUATION", "REQUESTS/S", "P50", "P99", "TO ALONE", "CPU USED", "TO ALONE", progress}}
	for _, got := range situations {
		var alone Situation
		for _, other := range situations {
			if other.Progress == 0 && math.Round(other.Rate) == math.Round(got.Rate) {
				alone = other
				break
			}
		}
		done := "-"
		if got.Progress > 0 {
			done = fmt.Sprintf("%.1f", got.Progress*per)
		}
		rows = append(rows, []string{
			got.Name, fmt.Sprintf("%g", got.Rate), Milliseconds(got.P50), Milliseconds(got.P99), Times(float64(got.P99), float64(alone.P99)),
			Percent(got.Used), Times(got.Used, alone.Used), done,
		})
	}
	return rows
}

// Milliseconds of a duration, with a tenth.
func Milliseconds(d time.Duration) string {
	return fmt.Sprintf("%.1f ms", float64(d)/float64(time.Millisecond))
}

// Percent is a share in percent.
func Percent(share float64) string { return fmt.Sprintf("%.0f %%", 100*share) }

// Times is how many times as much the one is as the other.
func Times(one, other float64) string {
	if other == 0 {
		return "-"
	}
	return fmt.Sprintf("%.2fx", one/other)
}
