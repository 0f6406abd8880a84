package jobinsight

import "math"

// DefaultConfidence is that of an interval that nobody chose.
const DefaultConfidence = 0.9

// Bounds of the confidence of an interval.
const (
	LeastConfidence = 0.5
	MostConfidence  = 0.99
)

// Estimate of one metric, in its unit.
type Estimate struct {
	// Point is as likely exceeded as not.
	Point float64 `json:"point"`
	// Low and High are the ends of the interval.
	Low  float64 `json:"low"`
	High float64 `json:"high"`
	// Level that it rests on, and how many runs of it were measured to their end.
	Level Level  `json:"-"`
	Runs  uint32 `json:"runs"`
	// Sources told of these runs.
	Sources Sources `json:"sources"`
}

// Prediction for the next run of a kind. A metric that nothing is known about has no estimate.
type Prediction struct {
	Confidence float64
	Estimates  [metrics]*Estimate
}

// Of is the estimate of a metric; nil if nothing is known about it.
func (p Prediction) Of(m Metric) *Estimate { return p.Estimates[m] }

// Predict says what the next run of a kind will use, with intervals that cover it with a confidence, which is taken to the next
// bound if it is outside of them. A nil trace records nothing.
func (s *Store) Predict(kind Kind, confidence float64, trace *Trace) Prediction {
	out := Prediction{Confidence: bounded(confidence)}
	for m := range metrics {
		basis, ok := s.basis(m, kind.bounded(), trace)
		if !ok {
			continue
		}
		low, high := basis.scores.ends(out.Confidence)
		out.Estimates[m] = &Estimate{
			Point: basis.at(m, basis.scores.quantile(0.5)), Low: basis.at(m, low), High: basis.at(m, high),
			Level: basis.level, Runs: basis.runs, Sources: basis.sources,
		}
	}
	return out
}

func bounded(confidence float64) float64 {
	if !(confidence > 0) {
		return DefaultConfidence
	}
	return min(max(confidence, LeastConfidence), MostConfidence)
}

// basis is what a prediction of a metric rests on.
type basis struct {
	level       Level
	runs        uint32
	sources     Sources
	mean, sigma float64
	scores      *scores
}

// farOff bounds how far an end of an interval is from the mean, in logarithms: a factor of ten thousand.
const farOff = 9.2

// at is the value of a score.
func (b *basis) at(m Metric, score float64) float64 {
	return m.exp(b.mean + min(max(b.sigma*score, -farOff), farOff))
}

// basis is the most specific level with enough runs; false if there is none.
func (s *Store) basis(m Metric, kind Kind, trace *Trace) (basis, bool) {
	for level := range levels {
		key, ok := level.key(kind)
		if !ok {
			continue
		}
		e := s.entries[place{level, key}]
		if e == nil {
			trace.tried(m, level, key, nil, false)
			continue
		}
		of := &e.of[m]
		used := of.weight >= enough[level]
		trace.tried(m, level, key, e, used)
		if used {
			calibrated := &s.scores[m][level][groupOf(of)]
			return basis{level: level, runs: of.runs, sources: e.sources, mean: of.mean, sigma: of.sigma(calibrated), scores: calibrated}, true
		}
	}
	return basis{}, false
}

// sigma is the spread of a next value: that of the runs and a bit of that of others, more of it the fewer runs there are.
func (s *summary) sigma(others *scores) float64 {
	variance := (s.weight*s.variance + pseudoRuns*others.spread) / (s.weight + pseudoRuns)
	return max(math.Sqrt(variance*(1+1/max(s.weight, 1))), leastSigma)
}
