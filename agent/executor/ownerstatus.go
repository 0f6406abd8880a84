package executor

import "time"

// refusedAfter is how long a value must have failed to count as refused: many a value is refused for what is written a moment later.
const refusedAfter = 5 * time.Second

// OwnerStatus is what became of the values that an owner wants.
type OwnerStatus struct {
	// Wanted values, and those of them that could not be read or written for a while.
	Wanted, Refused int
	// Err is why one of the refused was.
	Err error
}

// failureRecord is why something that is wanted could not be brought about, and since when.
type failureRecord struct {
	since time.Time
	err   error
}

// OwnerStatus says what became of the values of an owner at the latest Apply, of those whose cgroup counts.
func (e *Executor) OwnerStatus(owner string, counts func(of string) bool) OwnerStatus {
	e.mu.Lock()
	defer e.mu.Unlock()
	var out OwnerStatus
	now := e.options.Clock.Now()
	for t, wanted := range e.chosen {
		if wanted.owner != owner || !counts(t.of) {
			continue
		}
		out.Wanted++
		found, failing := e.failures[t]
		if age := now.Sub(found.since); failing && (age >= refusedAfter || age < 0) {
			out.Refused++
			out.Err = found.err
		}
	}
	return out
}

// LoadErr is why the originals of an earlier Executor cannot be read; nil when they can.
func (e *Executor) LoadErr() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.loadErr
}

// SaveErr is why originals cannot be kept at the moment; nil when they can.
func (e *Executor) SaveErr() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.saveErr
}

// recordFailures notes what a pass could not bring about. The lock is held.
func (e *Executor) recordFailures(p *pass) {
	for t, found := range p.failed {
		if before, known := e.failures[t]; known {
			found.since = before.since
			p.failed[t] = found
		}
	}
	e.failures = p.failed
}
