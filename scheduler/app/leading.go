package app

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

// observedLock is the leader election lock, which also remembers who holds it: the elector tells only the callbacks of
// kube-scheduler.
type observedLock struct {
	resourcelock.Interface
	leading atomic.Bool
	// renewed is when this process last got or kept the lock, and valid for how long that lets it write; 0 is for ever.
	renewed atomic.Pointer[moment]
	valid   time.Duration
	now     func() moment
}

// Get notes when another process holds the lock.
func (l *observedLock) Get(ctx context.Context) (*resourcelock.LeaderElectionRecord, []byte, error) {
	record, raw, err := l.Interface.Get(ctx)
	if err == nil && record.HolderIdentity != l.Identity() {
		l.leading.Store(false)
	}
	return record, raw, err
}

// Create notes that this process got the lock.
func (l *observedLock) Create(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	began := l.now()
	return l.note(record, began, l.Interface.Create(ctx, record))
}

// Update notes that this process got, kept or released the lock.
func (l *observedLock) Update(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	began := l.now()
	return l.note(record, began, l.Interface.Update(ctx, record))
}

// note remembers the outcome of a write of the lock, which holds from when it was asked for.
func (l *observedLock) note(record resourcelock.LeaderElectionRecord, began moment, err error) error {
	if err == nil {
		l.renewed.Store(&began)
		l.leading.Store(record.HolderIdentity == l.Identity())
	}
	return err
}

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
