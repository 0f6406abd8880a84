package jobinsight

import "math"

const (
	// bins of the scores, wider towards the ends.
	bins = 96
	// farthest is the largest score; those beyond count as it.
	farthest = 8.0
	// fine is the score below which bins are about as wide as each other.
	fine = 0.5
	// keepScores makes former scores weigh less: the last 500 count.
	keepScores = 0.998
	// priorWeight is how many scores the distribution weighs that is assumed at first.
	priorWeight = 10
	// nominal is the rate of misses at either end that rates are adapted to: an interval that covers 90 %.
	nominal = 0.05
	// adaption is by how much a miss changes the rate.
	adaption            = 0.004
	leastRate, mostRate = 0.0005, 0.3
	// keepSpread makes former distances weigh less.
	keepSpread = 0.99
)

// scores are how far runs were from their predictions, in units of the predicted spread.
type scores struct {
	weights [bins]float64
	// low and high are the rates at which interval ends are taken, so that they are missed at the nominal rate.
	low, high float64
	// spread is the mean square of the distances in logarithms.
	spread float64
}

// newScores assume a logistic distribution, and a spread by a factor of 1.6.
func newScores() scores {
	s := scores{low: nominal, high: nominal, spread: 0.25}
	before := 0.0
	for i := range s.weights {
		below := 1 / (1 + math.Exp(-1.7*edge(i+1)))
		if i == bins-1 {
			below = 1
		}
		s.weights[i] = priorWeight * (below - before)
		before = below
	}
	return s
}

// edge is the lower end of a bin.
func edge(bin int) float64 {
	return fine * math.Sinh((2*float64(bin)/bins-1)*math.Asinh(farthest/fine))
}

// position of a score among the bins, from 0 to bins.
func position(score float64) float64 {
	score = min(max(score, -farthest), farthest)
	return min(max((math.Asinh(score/fine)/math.Asinh(farthest/fine)+1)*bins/2, 0), bins)
}

func (s *scores) total() (sum float64) {
	for _, weight := range s.weights {
		sum += weight
	}
	return sum
}

// below is the share of scores below one.
func (s *scores) below(score float64) float64 {
	at := position(score)
	whole, sum := int(at), 0.0
	for i := range whole {
		sum += s.weights[i]
	}
	if whole < bins {
		sum += s.weights[whole] * (at - float64(whole))
	}
	return sum / s.total()
}

// quantile is the score that a share of the scores is below.
func (s *scores) quantile(share float64) float64 {
	left := share * s.total()
	for i, weight := range s.weights {
		if weight > 0 && left <= weight {
			from := edge(i)
			return from + (edge(i+1)-from)*max(left, 0)/weight
		}
		left -= weight
	}
	return farthest
}

// ends of the interval of a confidence: the nominal rates adapted, and scaled to it.
func (s *scores) ends(confidence float64) (low, high float64) {
	scale := (1 - confidence) / (2 * nominal)
	return s.quantile(min(s.low*scale, 0.5)), s.quantile(max(1-s.high*scale, 0.5))
}

// add a score of a run that was measured to its end.
func (s *scores) add(score float64) {
	low, high := s.ends(1 - 2*nominal)
	s.adapt(indicator(score < low), indicator(score > high))
	s.decay()
	s.weights[min(int(position(score)), bins-1)]++
}

// atLeast adds a run that ended early: its score would have become one of those above, as they are distributed.
func (s *scores) atLeast(score float64) {
	low, high := s.ends(1 - 2*nominal)
	above := 1 - s.below(score)
	if above < 1/(priorWeight*100.0) {
		s.add(score)
		return
	}
	missLow, missHigh := 0.0, 1.0
	if score < low {
		missLow = (s.below(low) - s.below(score)) / above
	}
	if score <= high {
		missHigh = (1 - s.below(high)) / above
	}
	s.adapt(missLow, missHigh)
	s.decay()
	first := min(int(position(score)), bins-1)
	sum := 0.0
	for _, weight := range s.weights[first:] {
		sum += weight
	}
	for i := first; i < bins; i++ {
		s.weights[i] *= 1 + 1/sum
	}
}

func (s *scores) adapt(missedLow, missedHigh float64) {
	s.low = min(max(s.low+adaption*(nominal-missedLow), leastRate), mostRate)
	s.high = min(max(s.high+adaption*(nominal-missedHigh), leastRate), mostRate)
}

func (s *scores) decay() {
	for i := range s.weights {
		s.weights[i] *= keepScores
	}
}

func indicator(of bool) float64 {
	if of {
		return 1
	}
	return 0
}
