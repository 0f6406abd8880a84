package jobinsight

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"time"
)

const (
	// lateness is how much later than others an engine may tell of a run that ended before them.
	lateness = 2 * time.Minute
	// mostSeen bounds the runs that are remembered of a reader, those that ended last.
	mostSeen = 1024
	// mostCursors bounds the readers of a store: what they remember is in its first part.
	mostCursors = 40
	// mostMillis is the last millisecond that is kept.
	mostMillis = maxTime * 1000
)

// cursor is how far the events of an engine were read. Runs that ended before it are known, and of later ones those that were seen.
type cursor struct {
	// from is in milliseconds of Unix time.
	from int64
	// seen are hashes of the IDs of runs, and when these ended.
	seen map[uint64]int64
}

// anyReader is the name of the cursor of readers that have none of their own. Their names have a slash.
const anyReader = "*"

// ReadEventsFrom has readers that have no cursor learn nothing of runs that ended before a time. It is for a store that was damaged: nobody
// knows what it had learned.
func (s *Store) ReadEventsFrom(from time.Time) {
	s.cursors[anyReader] = &cursor{from: from.UnixMilli()}
}

// EventsFrom is the time from which a reader asks its engine for runs that ended; zero for all that the engine knows.
func (s *Store) EventsFrom(reader string) time.Time {
	if from := s.cursor(reader).from; from > 0 {
		return time.UnixMilli(from)
	}
	return time.Time{}
}

// cursor of a reader, which is a new one where it has none.
func (s *Store) cursor(reader string) *cursor {
	if known := s.cursors[reader]; known != nil {
		return known
	}
	fresh := &cursor{seen: map[uint64]int64{}}
	if others := s.cursors[anyReader]; others != nil {
		fresh.from = others.from
	}
	return fresh
}

// Take notes that a reader was told of a run, and says whether that is news. A run that is said to end long after now is none; the same ID
// is never taken twice. Runs are to be told in the order in which they ended.
func (s *Store) Take(reader, id string, ended, now time.Time) bool {
	c, at, hash := s.cursor(reader), ended.UnixMilli(), hashOf(id)
	if _, known := c.seen[hash]; known || at < c.from || at <= 0 || ended.After(now.Add(lateness)) {
		return false
	}
	s.keepCursor(reader, c)
	c.seen[hash] = at
	c.advance(at - lateness.Milliseconds())
	return true
}

// keepCursor of a reader. Where there are too many, the one that has read nothing for the longest time is forgotten.
func (s *Store) keepCursor(reader string, c *cursor) {
	if s.cursors[reader] == nil && len(s.cursors) >= mostCursors {
		delete(s.cursors, slices.MinFunc(slices.Sorted(maps.Keys(s.cursors)), func(a, b string) int {
			return cmp.Compare(s.cursors[a].from, s.cursors[b].from)
		}))
	}
	s.cursors[reader] = c
}

// advance forgets what ended before a time, and the oldest ones where there are too many.
func (c *cursor) advance(to int64) {
	if len(c.seen) > mostSeen {
		times := slices.Sorted(maps.Values(c.seen))
		to = max(to, times[len(times)-mostSeen/2])
	}
	if to <= c.from {
		return
	}
	c.from = to
	maps.DeleteFunc(c.seen, func(_ uint64, at int64) bool { return at < to })
}

func hashOf(id string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(id)) // a hash takes everything
	return h.Sum64()
}

// append the name of the reader after its length, from when it reads, and what it has seen.
func (c *cursor) append(content []byte, name string) []byte {
	name = name[:min(len(name), maxField)]
	content = append(append(content, byte(len(name))), name...)
	content = binary.AppendUvarint(content, uint64(c.from))
	for _, hash := range slices.Sorted(maps.Keys(c.seen)) {
		content = binary.BigEndian.AppendUint64(content, hash)
		content = binary.AppendUvarint(content, uint64(c.seen[hash]))
	}
	return content
}

// cursor is the name of a reader, and how far it has read.
func (r *reader) cursor() (string, *cursor) {
	name := string(r.take(int(r.byte())))
	p := &cursor{from: int64(r.uvarint(mostMillis)), seen: map[uint64]int64{}}
	for r.err == nil && len(r.data) > 0 {
		hash := r.uint64()
		p.seen[hash] = int64(r.uvarint(mostMillis))
	}
	if r.err == nil && (name == "" || len(name) > maxField || len(p.seen) > mostSeen) {
		r.err = fmt.Errorf("reader %q has seen %d runs", name, len(p.seen))
	}
	return name, p
}

func (r *reader) sources() Sources {
	out := Sources(r.byte())
	if r.err == nil && (out == 0 || out >= 1<<sources) {
		r.err = fmt.Errorf("%d names no sources", out)
	}
	return out
}
