package executor

import "maps"

// WriteCounts counts what became of what an owner wants, since the agent was started.
type WriteCounts struct {
	// Writes that the kernel took.
	Writes int
	// Refused are reads and writes that the kernel answered with an error, and what was not written because its original could not be
	// kept.
	Refused int
	// Vanished are files that were there before and were gone when they were written.
	Vanished int
}

// WriteCounts by owner. Those that never wanted anything are left out.
func (e *Executor) WriteCounts() map[string]WriteCounts {
	e.mu.Lock()
	defer e.mu.Unlock()
	return maps.Clone(e.counts)
}

// StoreErr is why originals cannot be kept at the moment, or why those of an earlier Executor cannot be read; nil when they can.
func (e *Executor) StoreErr() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.loadErr != nil {
		return e.loadErr
	}
	return e.saveErr
}

// addCounts adds to the tally of an owner. The lock is held.
func (e *Executor) addCounts(owner string, add WriteCounts) {
	t := e.counts[owner]
	e.counts[owner] = WriteCounts{Writes: t.Writes + add.Writes, Refused: t.Refused + add.Refused, Vanished: t.Vanished + add.Vanished}
}
