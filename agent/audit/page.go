package audit

// Latest returns up to limit entries with a number below the given one, the newest first; 0 is above all.
func (l *Log) Latest(below uint64, limit int) []Entry {
	l.mu.Lock()
	defer l.mu.Unlock()
	size := uint64(len(l.entries))
	if below == 0 || below > l.last+1 {
		below = l.last + 1
	}
	var out []Entry
	for n := below - 1; n > 0 && n+size > l.last && len(out) < limit; n-- {
		out = append(out, l.entries[n%size])
	}
	return out
}

// Last is the number of the latest entry; 0 before the first.
func (l *Log) Last() uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.last
}

// Oldest is the number of the oldest entry that is kept; 0 before the first.
func (l *Log) Oldest() uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	if size := uint64(len(l.entries)); l.last > size {
		return l.last - size + 1
	}
	return min(l.last, 1)
}

// Changed returns a channel that is closed when the next entry is added.
func (l *Log) Changed() <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.changed == nil {
		l.changed = make(chan struct{})
	}
	return l.changed
}

// notify wakes those who wait for an entry. The lock is held.
func (l *Log) notify() {
	if l.changed != nil {
		close(l.changed)
		l.changed = nil
	}
}
