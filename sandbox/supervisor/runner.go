package supervisor

import (
	"context"
	"sync"
	"time"

	"k8s.io/klog/v2"

	"koordinator.sh/koord/sandbox/component"
	"koordinator.sh/koord/sandbox/control"
	"koordinator.sh/koord/sandbox/process"
	"koordinator.sh/koord/sandbox/state"
)

// timing is how patient a runner is.
type timing struct {
	// firstBackOff is the wait before the first restart. It doubles at every failure up to lastBackOff, and is the first
	// again after a component stayed up for stayedUp.
	firstBackOff, lastBackOff, stayedUp time.Duration
	// settle is how long a component without a probe must stay up to count as ready.
	settle time.Duration
	// grace is how long a process may take to end after SIGTERM before it is killed.
	grace time.Duration
}

var usualTiming = timing{
	firstBackOff: 500 * time.Millisecond,
	lastBackOff:  15 * time.Second,
	stayedUp:     time.Minute,
	settle:       time.Second,
	grace:        process.StopGrace,
}

// backOff is the wait before the next start: last is the wait before this one, 0 for none, and up how long it lasted.
func (t timing) backOff(last, up time.Duration) time.Duration {
	if last == 0 || up > t.stayedUp {
		return t.firstBackOff
	}
	return min(2*last, t.lastBackOff)
}

// giveUpAfter is how many times a component may fail before it was ever ready until the start is called off.
const giveUpAfter = 5

// runner keeps one component running until its context ends.
type runner struct {
	dir       state.Dir
	component component.Component
	spawner   *spawner
	timing    timing
	// changed is called, without the lock held, whenever a process starts or ends.
	changed func()

	mu     sync.Mutex
	status control.Component
	// ready is closed when the component was ready for the first time.
	ready chan struct{}
	// hopeless is closed when the component failed giveUpAfter times before that.
	hopeless chan struct{}
}

func newRunner(dir state.Dir, c component.Component, s *spawner, t timing, changed func()) *runner {
	return &runner{
		dir: dir, component: c, spawner: s, timing: t, changed: changed,
		status:   control.Component{Name: c.Name, Phase: control.Pending, Log: dir.Log(c.Name)},
		ready:    make(chan struct{}),
		hopeless: make(chan struct{}),
	}
}

// run starts the component, and starts it again whenever it ends, until ctx is done. It returns when the last process
// is gone.
func (r *runner) run(ctx context.Context) {
	backOff, failures := time.Duration(0), 0
	for ctx.Err() == nil {
		began := time.Now()
		reason := r.runOnce(ctx)
		if ctx.Err() != nil {
			break
		}
		backOff = r.timing.backOff(backOff, time.Since(began))
		klog.InfoS("Component exited, restarting", "component", r.component.Name, "reason", reason, "after", backOff)
		failures++
		if !r.wasReady() && failures == giveUpAfter {
			close(r.hopeless)
		}
		r.set(func(s *control.Component) {
			s.Phase, s.PID, s.LastExit = control.BackOff, 0, reason
			s.Restarts++
		})
		sleep(ctx, backOff)
	}
	r.set(func(s *control.Component) { s.Phase, s.PID = control.Stopped, 0 })
}

// runOnce runs one process to its end and says how it ended.
func (r *runner) runOnce(ctx context.Context) string {
	proc, err := r.spawner.start(ctx, r.dir, r.component)
	if err != nil {
		return err.Error()
	}
	now := time.Now()
	r.set(func(s *control.Component) {
		s.Phase, s.PID, s.StartedAt = control.Starting, proc.cmd.Process.Pid, &now
	})
	probing, stopProbing := context.WithCancel(ctx)
	var probe sync.WaitGroup
	probe.Go(func() { r.awaitReady(probing) })
	select {
	case <-proc.done:
	case <-ctx.Done():
		r.set(func(s *control.Component) { s.Phase = control.Stopping })
		proc.stop(r.timing.grace)
	}
	stopProbing()
	probe.Wait()
	return proc.exitReason()
}

func (r *runner) awaitReady(ctx context.Context) {
	if r.component.Ready.URL == "" {
		sleep(ctx, r.timing.settle)
	} else if err := awaitProbe(ctx, r.component.Ready); err != nil && ctx.Err() == nil {
		klog.ErrorS(err, "Failed to probe a component", "component", r.component.Name)
		return
	}
	if ctx.Err() != nil {
		return
	}
	r.set(func(s *control.Component) {
		if s.Phase == control.Starting {
			s.Phase = control.Running
		}
	})
	if !r.wasReady() {
		close(r.ready) // by one process's probe at a time
	}
}

func (r *runner) wasReady() bool {
	select {
	case <-r.ready:
		return true
	default:
		return false
	}
}

func (r *runner) set(change func(*control.Component)) {
	r.mu.Lock()
	change(&r.status)
	r.mu.Unlock()
	r.changed()
}

// snapshot returns the component's status.
func (r *runner) snapshot() control.Component {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.status
}

// sleep waits for a duration or for ctx to end.
func sleep(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}
