package frameworkext

import (
	"context"
	"errors"
	"testing"

	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

// lock is a leader election lock in memory.
type lock struct {
	resourcelock.Interface
	record resourcelock.LeaderElectionRecord
	err    error
}

func (l *lock) Identity() string { return "me" }
func (l *lock) Get(context.Context) (*resourcelock.LeaderElectionRecord, []byte, error) {
	return &l.record, nil, l.err
}
func (l *lock) Update(_ context.Context, record resourcelock.LeaderElectionRecord) error {
	if l.err == nil {
		l.record = record
	}
	return l.err
}

func TestObservedLockKnowsTheLeader(t *testing.T) {
	inner := &lock{}
	observed := &Lock{Interface: inner, now: thisMoment}
	update := func(holder string) {
		_ = observed.Update(t.Context(), resourcelock.LeaderElectionRecord{HolderIdentity: holder})
	}
	check := func(when string, want bool) {
		t.Helper()
		if got := observed.leading.Load(); got != want {
			t.Errorf("%s: leading %v, want %v", when, got, want)
		}
	}
	check("at first", false)
	inner.err = errors.New("conflict")
	update("me")
	check("after a failed attempt", false)
	inner.err = nil
	update("me")
	check("after an attempt that worked", true)
	inner.record.HolderIdentity = "other"
	_, _, _ = observed.Get(t.Context())
	check("after another took over", false)
	update("me")
	update("")
	check("after the release", false)
}
