package executor

import "time"

// refusedFor is how long a value must have failed to be told as refused: many a value is refused for what is written a moment later.
const refusedFor = 5 * time.Second

// Standing is what became of the values that an owner wants.
type Standing struct {
	// Wanted values, and those of them that could not be read or written for a while.
	Wanted, Refused int
	// Err is why one of the refused was.
	Err error
}

// trouble is why something that is wanted could not be brought about, and since when.
type trouble struct {
	since time.Time
	err   error
}

// Standing says what became of the values of an owner at the latest Apply, of those whose cgroup counts.
func (e *Executor) Standing(owner string, counts func(of string) bool) Standing {
	e.mu.Lock()
	defer e.mu.Unlock()
	var out Standing
	now := e.options.Clock.Now()
	for t, wanted := range e.chosen {
		if wanted.owner != owner || !counts(t.of) {
			continue
		}
		out.Wanted++
		found, failing := e.failing[t]
		if age := now.Sub(found.since); failing && (age >= refusedFor || age < 0) {
			out.Refused++
			out.Err = found.err
		}
	}
	return out
}

// Unread is why the originals of an earlier Executor cannot be read; nil when they can.
func (e *Executor) Unread() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.unread
}

// Unsaved is why originals cannot be kept at the moment; nil when they can.
func (e *Executor) Unsaved() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.unkept
}

// remember notes what a pass could not bring about. The lock is held.
func (e *Executor) remember(p *pass) {
	for t, found := range p.failed {
		if before, known := e.failing[t]; known {
			found.since = before.since
			p.failed[t] = found
		}
	}
	e.failing = p.failed
}
