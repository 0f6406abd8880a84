package trace

import (
	"math"
	"time"
)

// Series is one recorded load at regular intervals. It does not change and may be used concurrently.
type Series struct {
	// Name is the file, and the column for a VM.
	Name string
	// Start of the recording, in Unix seconds; 0 when it has no timestamps.
	start int64
	step  time.Duration
	// values in the recording's unit.
	values []float32
	peak   float32
}

// Step returns the time between two values.
func (s *Series) Step() time.Duration { return s.step }

// Len returns the number of values.
func (s *Series) Len() int { return len(s.values) }

// Peak returns the largest value, in the recording's unit.
func (s *Series) Peak() float64 { return float64(s.peak) }

// Value returns the recorded value of one step, 0 to Len()-1, in the recording's unit.
func (s *Series) Value(i int) float64 { return float64(s.values[i]) }

// Start returns the time of the first value, and false for a recording without timestamps.
func (s *Series) Start() (time.Time, bool) { return time.Unix(s.start, 0).UTC(), s.start != untimed }

// At returns the value at a moment, in the recording's unit. Before its start and after its end the recording repeats.
func (s *Series) At(at time.Time) float64 {
	elapsed := float64(at.Unix()-s.start) + float64(at.Nanosecond())/1e9
	length := float64(len(s.values))
	position := math.Mod(elapsed/s.step.Seconds(), length)
	if position < 0 {
		position += length
	}
	i := int(position)
	if i >= len(s.values) {
		// A negative remainder too small to matter was rounded up to the length.
		i, position = 0, 0
	}
	here, next := float64(s.values[i]), float64(s.values[(i+1)%len(s.values)])
	return between(here, next, position-float64(i))
}

// between is a value on the way from one to another. Where they are many orders of magnitude apart, the sum would be rounded beyond the
// smaller one.
func between(from, to, part float64) float64 {
	return min(max(from+(to-from)*part, min(from, to)), max(from, to))
}

// Load is a series scaled to fractions of a pod's request.
type Load struct {
	Series *Series
	// Scale turns the series' unit into fractions of the request.
	Scale float64
}

// At returns the load at a simulated moment as a fraction of the pod's request.
func (l Load) At(at time.Time) float64 { return l.Series.At(at) * l.Scale }
