package reservation

import "math"

// MostPreferred is the score of a node whose reservation has the smallest order of all; others are at most 100.
const MostPreferred = 1000

// Score says how well a pod fills a reservation, 0 to 100: the mean share of each reserved resource that is in use once the
// pod is there. A resource that would be exceeded counts nothing.
func Score(demand *Demand, r *Reservation, use Use) int64 {
	var sum, count int64
	for name, held := range r.Allocatable {
		if held <= 0 {
			continue
		}
		count++
		if used := plus(demand.Requests[name], use.Taken[name]); used <= held {
			sum += share(used, held)
		}
	}
	if count == 0 {
		return 0
	}
	return sum / count
}

// share in percent, without overflow for any two int64 with used <= held.
func share(used, held int64) int64 {
	const most = int64(1) << 56
	if held > most {
		used, held = used>>8, held>>8
	}
	return 100 * used / held
}

// Candidate is a reservation that a pod may use, as it is.
type Candidate struct {
	*Reservation
	Use
}

// Nominate chooses among the candidates that fit on one node: the smallest order, the highest score, the first name.
func Nominate(demand *Demand, candidates []Candidate) (best int, score int64) {
	best = -1
	for i := range candidates {
		current := Score(demand, candidates[i].Reservation, candidates[i].Use)
		if best < 0 || precedes(&candidates[i], current, &candidates[best], score) {
			best, score = i, current
		}
	}
	return best, score
}

// rank is the order, with those that have none last.
func (r *Reservation) rank() int64 {
	if r.Order <= 0 {
		return math.MaxInt64
	}
	return r.Order
}

func precedes(a *Candidate, aScore int64, b *Candidate, bScore int64) bool {
	switch {
	case a.rank() != b.rank():
		return a.rank() < b.rank()
	case aScore != bScore:
		return aScore > bScore
	case a.Name != b.Name:
		return a.Name < b.Name
	}
	return a.UID < b.UID
}
