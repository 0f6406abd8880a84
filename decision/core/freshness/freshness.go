package freshness

import (
	"fmt"
	"time"
)

// MinReportInterval is the shortest time between two reports of a koordlet, whatever its NodeMetric asks for.
const MinReportInterval = 30 * time.Second

// periods is how many periods old a measurement may be.
const periods = 2

// precision of the ages that are shown.
const precision = 100 * time.Millisecond

// Observation is when something was measured, and how often it should be.
type Observation struct {
	// At is when it was measured; zero when it never was.
	At time.Time `json:"at,omitempty,omitzero"`
	// Period in which a new measurement is due, in nanoseconds as JSON; 0 or less takes any age.
	Period time.Duration `json:"period,omitempty"`
}

// Assess returns why a measurement may not be acted on at a time; empty when it may. It may be two periods old. One that is
// more than two periods ahead was written by a clock that was set back since, and says nothing about now.
func (o Observation) Assess(now time.Time) string {
	if o.At.IsZero() {
		return "nothing was measured"
	}
	if o.Period <= 0 {
		return ""
	}
	switch age := now.Sub(o.At); {
	case age > periods*o.Period:
		return fmt.Sprintf("the measurement is %s old, more than two intervals of %s", Distance(now, o.At, precision), o.Period)
	case age < -periods*o.Period:
		return fmt.Sprintf("the measurement is %s ahead of the clock", Distance(now, o.At, precision))
	}
	return ""
}
