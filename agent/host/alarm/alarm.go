package alarm

import (
	"context"
	"sync"
	"time"

	"k8s.io/utils/clock"

	"koordinator.sh/koord/agent/host/cgroup"
	"koordinator.sh/koord/agent/host/files"
)

const (
	// MinDistance between two alarms; one that comes sooner is given when it is over.
	MinDistance = 100 * time.Millisecond
	// pollInterval is how often the CPU time of services is looked at.
	pollInterval = 100 * time.Millisecond
)

// Options of an Alarm.
type Options struct {
	// Tree of cgroups, and where they are in it.
	Tree   files.FS
	Layout cgroup.Layout
	// CPUs of the machine, which say what a step is: a twentieth of them.
	CPUs int
	// Clock is real time.
	Clock clock.WithTicker
}

// Alarm is given on C. All methods may be called at the same time.
type Alarm struct {
	options Options
	c       chan struct{}

	mu sync.Mutex
	// last is when an alarm was given, and due whether another waits for the distance.
	last time.Time
	due  bool
	// fired counts alarms by what gave them.
	fired Counts
}

// Counts are alarms by what gave them.
type Counts struct {
	// Pressure of services, and steps of their CPU time.
	Pressure, Step int
}

// New returns an Alarm that is silent until Run.
func New(options Options) *Alarm { return &Alarm{options: options, c: make(chan struct{}, 1)} }

// C gives alarms. One that was not received yet is not given a second time.
func (a *Alarm) C() <-chan struct{} { return a.c }

// Counts returns how often there was reason for an alarm.
func (a *Alarm) Counts() Counts {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.fired
}

// Run listens until the context ends. What the machine does not offer is done without.
func (a *Alarm) Run(ctx context.Context) {
	var group sync.WaitGroup
	defer group.Wait()
	group.Go(func() { a.listen(ctx) })
	poller := newCPUPoller(a.options)
	defer poller.close()
	ticker := a.options.Clock.NewTicker(pollInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C():
		}
		if poller.stepped(a.options.Clock.Now()) {
			a.raise(func(c *Counts) { c.Step++ })
		}
		a.raisePending()
	}
}

// raise gives an alarm, at once or when the distance is over.
func (a *Alarm) raise(count func(*Counts)) {
	a.mu.Lock()
	defer a.mu.Unlock()
	count(&a.fired)
	a.due = true
	a.send()
}

// raisePending gives the alarm that waited.
func (a *Alarm) raisePending() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.send()
}

func (a *Alarm) send() {
	now := a.options.Clock.Now()
	if age := now.Sub(a.last); !a.due || !a.last.IsZero() && age >= 0 && age < MinDistance {
		return
	}
	a.due, a.last = false, now
	select {
	case a.c <- struct{}{}:
	default:
	}
}
