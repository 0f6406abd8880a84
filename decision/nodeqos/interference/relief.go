package interference

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Bounds of a relief: what best effort keeps in any case, what a disturbed window takes and what a calm one gives back. Giving
// back slowly keeps a service from being disturbed by every attempt.
const (
	leastPercent = 20
	cutPercent   = 80
	raisePercent = 5
	// reliefEvery is the time that a step takes to have an effect.
	reliefEvery = 10 * time.Second
)

// Relief is what best-effort pods give up so that services come to rest.
type Relief struct {
	// Percent of their budget that they keep, 20 to 100; the zero value is 100.
	Percent int64 `json:"percent"`
	// Last time that it changed or was confirmed.
	Last time.Time `json:"last,omitempty,omitzero"`
	// Disturbed services, at most three by name.
	Disturbed []string `json:"disturbed,omitempty"`
	// Reason in one sentence.
	Reason string `json:"reason"`
}

// Keeps is the percentage that best effort keeps.
func (r Relief) Keeps() int64 {
	if r.Percent == 0 {
		return 100
	}
	return r.Percent
}

// Relieve takes one step, at most every ten seconds: a fifth less while any service is disturbed and best effort runs at all, and
// five percent of the whole back while none is. Where no best effort runs, nothing of it can be what disturbs.
func Relieve(before Relief, at time.Time, disturbed []string, bestEffort bool) Relief {
	if !before.Last.IsZero() && at.Before(before.Last.Add(reliefEvery)) && !at.Before(before.Last) {
		return before
	}
	out := Relief{Percent: before.Keeps(), Last: at}
	slices.Sort(disturbed)
	switch {
	case len(disturbed) > 0 && bestEffort:
		out.Percent = max(out.Percent*cutPercent/100, leastPercent)
		out.Disturbed = disturbed[:min(len(disturbed), 3)]
		out.Reason = fmt.Sprintf("%d services are disturbed, such as %s", len(disturbed), strings.Join(out.Disturbed, ", "))
	case len(disturbed) > 0:
		out.Disturbed, out.Reason = disturbed[:min(len(disturbed), 3)], "services are disturbed, but no best effort runs"
		out.Percent = min(out.Percent+raisePercent, 100)
	default:
		out.Percent = min(out.Percent+raisePercent, 100)
		out.Reason = "no service is disturbed"
	}
	return out
}
