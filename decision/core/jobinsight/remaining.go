package jobinsight

import (
	"math"
	"time"
)

// leastAbove is the share of runs that has to be longer than a run already is for its end to be predicted from them.
const leastAbove = 0.01

// Remaining is how much longer a run will take, given that it has run for a while already.
type Remaining struct {
	// Point is as likely exceeded as not.
	Point, Low, High time.Duration
	// Longer is the share of the runs that it rests on that took longer than this one already has, from 0 to 1.
	Longer float64
	// Overdue says that hardly any run took so long: what remains is no longer known from runs of the kind, and is taken to grow with
	// the time that it has run, as that of heavy-tailed durations does.
	Overdue bool
	Level   Level
	Runs    uint32
	// Sources told of these runs.
	Sources Sources
}

// Remaining of a run of a kind that has run for a time; false if no duration is known.
func (s *Store) Remaining(kind Kind, ran time.Duration, confidence float64) (Remaining, bool) {
	basis, ok := s.basis(Duration, kind.bounded(), nil)
	if !ok {
		return Remaining{}, false
	}
	so := max(ran.Seconds(), least[Duration])
	score := (math.Log(so) - basis.mean) / basis.sigma
	below := basis.scores.below(score)
	out := Remaining{Longer: 1 - below, Overdue: 1-below < leastAbove, Level: basis.level, Runs: basis.runs, Sources: basis.sources}
	scale := (1 - bounded(confidence)) / (2 * nominal)
	low, high := min(basis.scores.low*scale, 0.5), min(basis.scores.high*scale, 0.5)
	for _, end := range [...]struct {
		share float64
		into  *time.Duration
	}{{0.5, &out.Point}, {low, &out.Low}, {1 - high, &out.High}} {
		total := basis.at(Duration, basis.scores.quantile(below+end.share*(1-below)))
		if out.Overdue {
			total = so * math.Pow(1-end.share, -basis.sigma)
		}
		*end.into = seconds(total - so)
	}
	return out, true
}

// seconds is a duration, at least none and at most what fits.
func seconds(of float64) time.Duration {
	return time.Duration(min(max(of, 0), most[Duration])) * time.Second
}
