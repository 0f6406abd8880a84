package check

import (
	"context"
	"time"

	"k8s.io/utils/clock"
)

// interval between two attempts.
const interval = 2 * time.Second

// Await checks until no check fails that may be retried, at most for a duration, and returns the last report. Checks that time does not
// help are not waited for.
func Await(ctx context.Context, clock clock.Clock, wait time.Duration, once func(context.Context) (*Report, error)) (*Report, error) {
	deadline := clock.Now().Add(wait)
	for {
		report, err := once(ctx)
		left := deadline.Sub(clock.Now())
		if err != nil || !report.pending() || left <= 0 {
			return report, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-clock.After(min(interval, left)):
		}
	}
}
