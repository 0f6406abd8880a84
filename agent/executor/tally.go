package executor

import "maps"

// Tally counts what became of what an owner wants, since the agent was started.
type Tally struct {
	// Writes that the kernel took.
	Writes int
	// Refused are reads and writes that the kernel answered with an error, and what was not written because its original could not be
	// kept.
	Refused int
	// Vanished are files that were there before and were gone when they were written.
	Vanished int
}

// Tallies by owner. Those that never wanted anything are left out.
func (e *Executor) Tallies() map[string]Tally {
	e.mu.Lock()
	defer e.mu.Unlock()
	return maps.Clone(e.tallies)
}

// Unkept is why originals cannot be kept at the moment, or why those of an earlier Executor cannot be read; nil when they can.
func (e *Executor) Unkept() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.unread != nil {
		return e.unread
	}
	return e.unkept
}

// count adds to the tally of an owner. The lock is held.
func (e *Executor) count(owner string, add Tally) {
	t := e.tallies[owner]
	e.tallies[owner] = Tally{Writes: t.Writes + add.Writes, Refused: t.Refused + add.Refused, Vanished: t.Vanished + add.Vanished}
}
