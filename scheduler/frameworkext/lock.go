package frameworkext

import (
	"context"
	"sync/atomic"
	"time"

	"k8s.io/client-go/tools/leaderelection/resourcelock"
	kubeconfig "k8s.io/kubernetes/cmd/kube-scheduler/app/config"
)

// Lock is the leader election lock, which also remembers whether this process holds it: the elector informs only the callbacks of
// kube-scheduler.
type Lock struct {
	resourcelock.Interface
	leading atomic.Bool
	// renewed is when this process last got or kept the lock, and valid for how long that lets it write; 0 is for ever.
	renewed atomic.Pointer[moment]
	valid   time.Duration
	now     func() moment
}

// Get notes when another process holds the lock.
func (l *Lock) Get(ctx context.Context) (*resourcelock.LeaderElectionRecord, []byte, error) {
	record, raw, err := l.Interface.Get(ctx)
	if err == nil && record.HolderIdentity != l.Identity() {
		l.leading.Store(false)
	}
	return record, raw, err
}

// Create notes that this process got the lock.
func (l *Lock) Create(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	began := l.now()
	return l.note(record, began, l.Interface.Create(ctx, record))
}

// Update notes that this process got, kept or released the lock.
func (l *Lock) Update(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	began := l.now()
	return l.note(record, began, l.Interface.Update(ctx, record))
}

// note remembers the outcome of a write of the lock, which holds from when it was asked for.
func (l *Lock) note(record resourcelock.LeaderElectionRecord, began moment, err error) error {
	if err == nil {
		l.renewed.Store(&began)
		l.leading.Store(record.HolderIdentity == l.Identity())
	}
	return err
}

// ObserveLock puts an observed lock in the place of the leader election lock; nil when there is no election.
func ObserveLock(completed *kubeconfig.CompletedConfig) *Lock {
	if completed.LeaderElection == nil {
		return nil
	}
	lock := &Lock{Interface: completed.LeaderElection.Lock, now: thisMoment}
	completed.LeaderElection.Lock = lock
	return lock
}

// moment is a time by two clocks: one that only goes on, and that of the wall, which may be set.
type moment struct{ steady, wall time.Time }

func thisMoment() moment {
	now := time.Now()
	return moment{steady: now, wall: now.Round(0)}
}

// since is the longer of the times that passed by either clock. The steady one does not go on while a machine sleeps.
func (m moment) since(before moment) time.Duration {
	return max(m.steady.Sub(before.steady), m.wall.Sub(before.wall))
}

// Leads is true while this process holds the lock and last renewed it no longer ago than the time for which an elector tries to
// renew it, which is less than other processes wait before they take over.
func (l *Lock) Leads() bool {
	renewed := l.renewed.Load()
	return renewed != nil && l.leading.Load() && (l.valid == 0 || l.now().since(*renewed) < l.valid)
}
