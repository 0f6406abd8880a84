package jobinsight

import (
	"cmp"
	"slices"
	"time"
)

const (
	// DefaultKinds is how many kinds a store keeps, those of all levels together.
	DefaultKinds = 8192
	// familiar is how many runs make a kind well known; intervals of others are calibrated apart.
	familiar = 8
	groups   = 2
	// pseudoRuns is how much the spread of others counts in that of a kind.
	pseudoRuns = 3
	// leastSigma is the smallest spread, of 1 %.
	leastSigma = 0.01
)

// entry is what a level knows about a kind.
type entry struct {
	// last is when a run ended last, in seconds of Unix time.
	last int64
	// early counts runs that ended early.
	early uint32
	// sources told of its runs.
	sources Sources
	of      [metrics]summary
}

// place names an entry.
type place struct {
	level Level
	kind  Kind
}

// calibration of all intervals: for each metric by the level and the group that the prediction rested on.
type calibration [metrics][levels][groups]scores

// Store keeps what is known of kinds. It is not safe for concurrent use.
type Store struct {
	most    int
	entries map[place]*entry
	scores  *calibration
	// last is when the latest run of a pod ended, in seconds of Unix time.
	last int64
	// cursors in the events of engines, by the names of their readers.
	cursors map[string]*cursor
}

// NewStore returns an empty store of at most so many kinds; 0 for DefaultKinds. The ones seen longest ago are forgotten first.
func NewStore(kinds int) *Store {
	if kinds <= 0 {
		kinds = DefaultKinds
	}
	s := &Store{most: kinds, entries: map[place]*entry{}, scores: &calibration{}, cursors: map[string]*cursor{}}
	fresh := newScores()
	for m := range s.scores {
		for l := range s.scores[m] {
			for g := range s.scores[m][l] {
				s.scores[m][l][g] = fresh
			}
		}
	}
	return s
}

// Len is the number of kinds, those of all levels together.
func (s *Store) Len() int { return len(s.entries) }

// Last is when the latest run of a pod ended; zero before the first.
func (s *Store) Last() time.Time {
	if s.last == 0 {
		return time.Time{}
	}
	return time.Unix(s.last, 0)
}

// Observe learns from a run that ended. What was not measured is left out.
func (s *Store) Observe(run Run) {
	run.Kind = run.Kind.bounded()
	ended := max(run.Ended.Unix(), 1)
	if run.Source == Pods {
		s.last = max(s.last, ended)
	}
	for m := range metrics {
		if log, ok := m.log(run.Values[m]); ok {
			s.score(m, run, log)
		}
	}
	for level := range levels {
		kind, ok := level.key(run.Kind)
		if !ok || !run.Source.tells(level) {
			continue
		}
		e := s.entries[place{level, kind}]
		if e == nil {
			e = &entry{}
			s.entries[place{level, kind}] = e
		}
		e.learn(level, run, s.scores)
		e.last = max(e.last, ended)
	}
	s.forget()
}

// score judges the prediction for a run, before the run is learned.
func (s *Store) score(m Metric, run Run, log float64) {
	basis, ok := s.basis(m, run.Kind, nil)
	if !ok || !run.Source.tells(basis.level) || run.Outcome != Completed && m == CPU {
		return
	}
	score := (log - basis.mean) / basis.sigma
	if run.Outcome != Completed {
		basis.scores.atLeast(score)
		return
	}
	basis.scores.add(score)
	distance := min((log-basis.mean)*(log-basis.mean), 25)
	basis.scores.spread += (1 - keepSpread) * (distance - basis.scores.spread)
}

// learn from a run. The mean CPU of one that ended early is not that of a whole one.
func (e *entry) learn(level Level, run Run, all *calibration) {
	e.sources |= 1 << run.Source
	if run.Outcome != Completed {
		e.early++
	}
	for m := range metrics {
		log, ok := m.log(run.Values[m])
		if !ok {
			continue
		}
		of := &e.of[m]
		switch {
		case run.Outcome == Completed:
			of.runs++
			of.add(log, 1, keep[level])
		case m != CPU:
			floor := 0.0
			if run.Outcome == OOMKilled && m == Memory {
				floor = outgrown
			}
			of.atLeast(log, of.sigma(&all[m][level][groupOf(of)]), keep[level], floor)
		}
	}
}

func groupOf(of *summary) int {
	if of.runs >= familiar {
		return 1
	}
	return 0
}

// forget the kinds seen longest ago once there are too many, a sixteenth at a time. Where engines told of more than half of them, only theirs
// are forgotten: queries that run once do not drive out jobs of every night.
func (s *Store) forget() {
	if len(s.entries) <= s.most {
		return
	}
	places := s.places()
	told := slices.DeleteFunc(slices.Clone(places), func(at place) bool { return !s.entries[at].sources.engines() })
	left := len(places) - (s.most - s.most/16)
	if len(told) > s.most/2 {
		places = told
	}
	slices.SortStableFunc(places, func(a, b place) int { return cmp.Compare(s.entries[a].last, s.entries[b].last) })
	for _, at := range places {
		if left <= 0 {
			return
		}
		if at.level != ByAll {
			delete(s.entries, at)
			left--
		}
	}
}

// places of all entries, in the order of their levels and kinds.
func (s *Store) places() []place {
	places := make([]place, 0, len(s.entries))
	for at := range s.entries {
		places = append(places, at)
	}
	slices.SortFunc(places, comparePlaces)
	return places
}

func comparePlaces(a, b place) int {
	return cmp.Or(cmp.Compare(a.level, b.level), cmp.Compare(a.kind.User, b.kind.User), cmp.Compare(a.kind.Queue, b.kind.Queue),
		cmp.Compare(a.kind.Application, b.kind.Application), cmp.Compare(a.kind.Shape, b.kind.Shape))
}
