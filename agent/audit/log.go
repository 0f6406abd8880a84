// Package audit remembers what the agent did to its node: every write to a kernel file and every eviction, with who wanted it
// and why. It is bounded, and read by number.
package audit

import (
	"sync"
	"time"
)

// Entry is one thing done.
type Entry struct {
	// Number counts all entries of this agent from 1, so that a reader notices when it has missed some.
	Number uint64 `json:"number"`
	// Time of the write.
	Time time.Time `json:"time"`
	// Owner is the feature that wanted it.
	Owner string `json:"owner"`
	// Object is the file, relative to the root of its tree, or the pod.
	Object string `json:"object"`
	// Old and New are what was there before and after. They are equal when the kernel refused.
	Old string `json:"old"`
	New string `json:"new"`
	// Why with numbers.
	Why string `json:"why,omitempty"`
	// Error is the kernel's answer; empty when the write succeeded.
	Error string `json:"error,omitempty"`
}

// Log keeps the latest entries. All methods may be called at the same time.
type Log struct {
	mu      sync.Mutex
	entries []Entry
	last    uint64
	// changed is closed at the next entry; nil while no reader waits.
	changed chan struct{}
}

// NewLog returns a Log that keeps a number of entries, at least one.
func NewLog(size int) *Log { return &Log{entries: make([]Entry, max(size, 1))} }

// Add gives an entry its number and keeps it.
func (l *Log) Add(entry Entry) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.last++
	entry.Number = l.last
	l.entries[l.last%uint64(len(l.entries))] = entry
	l.notify()
}

// After returns entries with a number above the given one, the oldest first, at most limit. The first may be more than one
// above: what lies between was pushed out.
func (l *Log) After(number uint64, limit int) []Entry {
	l.mu.Lock()
	defer l.mu.Unlock()
	size := uint64(len(l.entries))
	first := number + 1
	if l.last >= size {
		first = max(first, l.last-size+1)
	}
	var out []Entry
	for n := first; n <= l.last && len(out) < limit; n++ {
		out = append(out, l.entries[n%size])
	}
	return out
}
