package overcommit

import (
	"fmt"
	"slices"
	"time"
)

// steadyWindow is how long a failure of the measurements is remembered.
const steadyWindow = 30 * time.Minute

// maxFailures bounds the failures that are remembered; more make no difference.
const maxFailures = 16

// Steadiness is how often the measurements of a node could not be believed lately. Measurements that come and go must not
// make the offer come and go: after the second failure in half an hour, what was taken back is offered again only once the
// measurements have been believed for a while, which doubles with every failure. The first failure costs nothing, for an
// agent that is updated has one.
type Steadiness struct {
	// Failures are when an offer was taken back because its measurements were not believed any more, within the last half
	// hour, the oldest first.
	Failures []time.Time
	// Believed is since when the measurements are believed; zero while they are not, and before the first ones.
	Believed time.Time
}

// observe is the steadiness after one more look at the measurements. The receiver is left as it is.
func (s Steadiness) observe(believed bool, in *NodeInput) Steadiness {
	s = s.asOf(in.Now)
	now, held := in.Now, !s.heldUntil(in).IsZero()
	out := Steadiness{Believed: s.Believed}
	for _, failure := range s.Failures {
		if now.Sub(failure) < steadyWindow {
			out.Failures = append(out.Failures, failure)
		}
	}
	switch {
	case believed && s.Believed.IsZero():
		out.Believed = now
	case !believed && !s.Believed.IsZero():
		out.Believed = time.Time{}
		if held {
			break // nothing was offered
		}
		out.Failures = append(out.Failures, now)
		out.Failures = slices.Clone(out.Failures[max(len(out.Failures)-maxFailures, 0):])
	}
	return out
}

// asOf has what lies ahead of a time be as of that time: it was timed by a clock that was set back since, and would hold back what is
// offered for as long as the clock was set back.
func (s Steadiness) asOf(now time.Time) Steadiness {
	out := Steadiness{Believed: s.Believed, Failures: slices.Clone(s.Failures)}
	if out.Believed.After(now) {
		out.Believed = now
	}
	for i, failure := range out.Failures {
		if failure.After(now) {
			out.Failures[i] = now
		}
	}
	return out
}

// heldUntil is until when nothing is offered again: two report intervals after the measurements were believed again, twice as
// long with every failure from the third on, and at most the age at which a report is no longer believed. Zero means that
// nothing is held back.
func (s Steadiness) heldUntil(in *NodeInput) time.Time {
	if len(s.Failures) < 2 || s.Believed.IsZero() {
		return time.Time{}
	}
	wait := 2 * seconds(in.reportInterval())
	longest := degradeAfter(&in.Strategy.Strategy)
	for range len(s.Failures) - 2 {
		wait = min(2*wait, longest)
	}
	until := s.Believed.Add(min(wait, longest))
	if !in.Now.Before(until) {
		return time.Time{}
	}
	return until
}

// heldReason says why nothing is offered although the measurements are usable now.
func (c *calculation) heldReason() string {
	return fmt.Sprintf("the NodeMetric was unusable %d times in %s; offered again at %s",
		len(c.steady.Failures), short(steadyWindow), c.held.UTC().Format(time.RFC3339))
}
