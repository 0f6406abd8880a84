package jobinsight

import "math"

// keep is by how much each run makes the former ones of a level weigh less: kinds drift, and a kind is about its last 15 runs.
var keep = [levels]float64{ByKind: 0.93, ByShape: 0.95, ByApplication: 0.97, ByQueue: 0.99, ByAll: 0.995}

// enough is the weight of the runs from which a level is predicted.
var enough = [levels]float64{ByKind: 2.5, ByShape: 2.5, ByApplication: 4, ByQueue: 8, ByAll: 8}

// outgrown is what a run weighs at least that was killed because it needed more memory than it had: a kind that is always killed is to
// be predicted from these runs, and not as others are.
const outgrown = 0.6

// summary of the logarithms of one metric.
type summary struct {
	// runs that were measured to their end.
	runs uint32
	// weight of the runs, each later one less; those that ended early weigh less than 1.
	weight, mean, variance float64
}

// add a value with a weight.
func (s *summary) add(log, weight, keep float64) {
	old := s.weight * keep
	s.weight = old + weight
	if s.weight == 0 {
		return
	}
	delta := log - s.mean
	s.mean += delta * weight / s.weight
	s.variance = max((old*s.variance+weight*delta*(log-s.mean))/s.weight, 0)
}

// atLeast adds a run that ended early, when its value was this much. What it would have become is expected from what is known, and
// it weighs as much as it says: a run that was killed before others are half done says nothing, one that outgrew all others everything.
// It weighs no less than a floor.
func (s *summary) atLeast(log, sigma, keep, floor float64) {
	if s.weight == 0 {
		s.add(log, max(0.5, floor), keep)
		return
	}
	z := (log - s.mean) / sigma
	s.add(s.mean+sigma*expectedAbove(z), max(normalCDF(z), floor), keep)
}

// normalCDF is the share of a standard normal distribution below z.
func normalCDF(z float64) float64 { return 0.5 * math.Erfc(-z/math.Sqrt2) }

// expectedAbove is the mean of a standard normal distribution above z.
func expectedAbove(z float64) float64 {
	above := 1 - normalCDF(z)
	if z > 5 || above < 1e-6 {
		return z + 1/z
	}
	return math.Exp(-z*z/2) / math.Sqrt(2*math.Pi) / above
}
