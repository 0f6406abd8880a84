package enforcement

import (
	"time"

	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
)

const (
	// failAfter is how long an agent must fail before it is told that it does, and recoverAfter how long it must have succeeded.
	// Withdrawing an offer and giving it back costs two writes of a node, and keeps pods pending in between.
	failAfter    = 2 * time.Second
	recoverAfter = 30 * time.Second
)

// Steady is the verdict that is told of an agent, which follows the latest one with some delay, so that what comes and goes does not
// have offers come and go. The zero value has told nothing.
type Steady struct {
	// Told is the verdict in force.
	Told Verdict
	// pending is another one, which has come up since.
	pending Verdict
	since   time.Time
}

// Next is the steadiness after one more verdict. The receiver is left as it is. The first verdict counts at once.
func (s Steady) Next(latest Verdict, now time.Time) Steady {
	switch {
	case s.Told.Reason == "":
		return Steady{Told: latest}
	case s.Told.same(latest):
		return Steady{Told: latest}
	case !s.pending.same(latest):
		s.since = now
	}
	s.pending = latest
	wait := failAfter
	switch {
	case s.Told.Reason == slov1alpha1.ReasonObjectsUnread:
		wait = 0 // what was read stays read
	case latest.Enforcing:
		wait = recoverAfter
	}
	if age := now.Sub(s.since); age >= wait || age < 0 {
		return Steady{Told: latest}
	}
	return s
}

// same is true for verdicts that differ in the words at most.
func (v Verdict) same(other Verdict) bool {
	return v.Enforcing == other.Enforcing && v.Reason == other.Reason
}
