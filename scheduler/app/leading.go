package app

import (
	"context"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
)

// leadershipPeriod is how often the leadership is looked at by work that only the leader does.
const leadershipPeriod = 200 * time.Millisecond

// whileLeading runs work once this process leads, with a context that ends when it leads no longer or the given one ends.
func whileLeading(ctx context.Context, leads func() bool, work func(context.Context)) {
	if wait.PollUntilContextCancel(ctx, leadershipPeriod, true, func(context.Context) (bool, error) { return leads(), nil }) != nil {
		return
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var watching sync.WaitGroup
	defer watching.Wait()
	watching.Go(func() {
		defer cancel()
		_ = wait.PollUntilContextCancel(ctx, leadershipPeriod, false, func(context.Context) (bool, error) { return !leads(), nil }) // ends with the context
	})
	work(ctx)
	cancel()
}
