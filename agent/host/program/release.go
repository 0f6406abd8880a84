package program

import (
	"context"
	"time"

	"k8s.io/klog/v2"
	"k8s.io/utils/clock"
)

const (
	// afterStart is when the pages that starting needed are given back: caches are filled and first reports are written by then.
	afterStart = time.Minute
	// every is how often those are that rare work needed, like answering questions.
	every = time.Hour
)

// Run gives pages back a minute after the start and then every hour, until the context ends.
func Run(ctx context.Context, c clock.Clock) {
	for wait := afterStart; ; wait = every {
		timer := c.NewTimer(wait)
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-timer.C():
		}
		if err := Release(); err != nil {
			klog.FromContext(ctx).V(2).Info("Failed to release memory that was needed only at startup", "err", err)
			return
		}
	}
}
