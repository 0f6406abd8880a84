package simulated

import "time"

// MaxSpeed is the fastest simulated time, in simulated seconds per second.
const MaxSpeed = 3600

// Timeline maps real time to simulated time, which runs faster: both agree at the origin.
type Timeline struct {
	// Origin is the moment at which real and simulated time are the same.
	Origin time.Time
	// Speed is simulated seconds per second; 0 stands for 1.
	Speed float64
}

// At returns the simulated time at a real moment. Simulated time stands still 146 years from the origin, before
// nanoseconds of Unix time overflow; at the highest speed that is after two weeks.
func (t Timeline) At(real time.Time) time.Time {
	if t.Speed == 0 || t.Speed == 1 {
		return real
	}
	const farthest = float64(1 << 62)
	elapsed := float64(real.Sub(t.Origin)) * t.Speed
	return t.Origin.Add(time.Duration(min(max(elapsed, -farthest), farthest)))
}
