package main

import (
	"context"
	"math"
	"slices"
	"sync"
	"time"
)

// pace calls work for every index below count at a steady rate a second, each at its time whether or not those before have
// returned, and gives back how long each took from the time at which it was due. It ends at the first error.
func pace(ctx context.Context, rate float64, count int, work func(context.Context, int) error) ([]time.Duration, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	took := make([]time.Duration, count)
	var group sync.WaitGroup
	began := time.Now()
	for i := range count {
		due := began.Add(time.Duration(float64(i) / rate * float64(time.Second)))
		if pause(ctx, time.Until(due)) != nil {
			break
		}
		group.Go(func() {
			if err := work(ctx, i); err != nil {
				cancel(err)
			}
			took[i] = time.Since(due)
		})
	}
	group.Wait()
	return took, context.Cause(ctx)
}

// oneByOne calls work for every index below count, one after the other, and gives back how long each took.
func oneByOne(ctx context.Context, count int, work func(context.Context, int) error) ([]time.Duration, error) {
	took := make([]time.Duration, count)
	for i := range count {
		began := time.Now()
		if err := work(ctx, i); err != nil {
			return nil, err
		}
		took[i] = time.Since(began)
	}
	return took, nil
}

// pause waits for a while, and returns early with the reason when ctx ends.
func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
		return nil
	}
}

// quantile is the smallest of the times that at least the given share of them, 0 to 1, does not exceed; 0 without any.
func quantile(times []time.Duration, share float64) time.Duration {
	if len(times) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(times))
	rank := int(math.Ceil(share*float64(len(sorted)))) - 1
	return sorted[min(max(rank, 0), len(sorted)-1)]
}

// median of values; the higher one of the two in the middle.
func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[len(sorted)/2]
}
