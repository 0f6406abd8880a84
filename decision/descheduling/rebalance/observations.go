package rebalance

import (
	"math"
	"slices"
	"time"
)

// slots is how many values are kept of each pod and resource: the largest of each twelfth of the horizon, over two horizons.
const (
	slots           = 24
	slotsPerHorizon = 12
)

// Observations are what pods, and the systems of nodes, used over the last two horizons, from which their usage within the next one is
// predicted. They take about 250 bytes a pod, and are not safe for concurrent use.
type Observations struct {
	width int
	slot  time.Duration
	of    map[string]*series
	// sums and most are the space of PeakOfSum, which is called for every pod, and key that of Name.
	sums []float64
	most []float32
	key  []byte
}

// series are the largest values of each slot of one pod; slot i%slots holds the one of the i-th slot since the epoch.
type series struct {
	name        string
	first, last int64
	values      []float32
}

// NewObservations of some resources.
func NewObservations(resources int, horizon time.Duration) *Observations {
	return &Observations{
		width: resources, slot: max(horizon/slotsPerHorizon, time.Second), of: map[string]*series{},
		sums: make([]float64, slots*resources), most: make([]float32, resources),
	}
}

// Name is the name of a pod: namespace/name. A pod that was observed has its name already.
func (o *Observations) Name(namespace, name string) string {
	o.key = append(append(append(o.key[:0], namespace...), '/'), name...)
	if s := o.of[string(o.key)]; s != nil {
		return s.name
	}
	return string(o.key)
}

func (o *Observations) at(now time.Time) int64 { return now.UnixNano() / int64(o.slot) }

// Observe that a pod uses so much. Values that are out of order or cannot be used are ignored.
func (o *Observations) Observe(name string, usage []float64, now time.Time) {
	if len(usage) != o.width || slices.ContainsFunc(usage, func(v float64) bool { return !usable(v) }) {
		return
	}
	at, s := o.at(now), o.of[name]
	switch {
	case s == nil || at-s.last >= slots:
		s = &series{name: name, first: at, last: at, values: make([]float32, slots*o.width)}
		o.of[name] = s
	case at < s.last:
		return
	default:
		o.advance(s, at)
	}
	for r, value := range usage {
		into := &s.values[int(at%slots)*o.width+r]
		*into = max(*into, float32(value))
	}
}

// advance to a slot. One in which nothing was observed repeats the one before.
func (o *Observations) advance(s *series, to int64) {
	for ; s.last < to; s.last++ {
		from, next := int(s.last%slots)*o.width, int((s.last+1)%slots)*o.width
		if s.last+1 == to {
			clear(s.values[next : next+o.width])
			continue
		}
		copy(s.values[next:next+o.width], s.values[from:from+o.width])
	}
	s.first = max(s.first, to-slots+1)
}

// Limit what a pod used of a resource to what it may use now: what it used before its limit was lowered is not predicted.
func (o *Observations) Limit(name string, resource int, most float64) {
	s := o.of[name]
	if s == nil || !usable(most) {
		return
	}
	for at := resource; at < len(s.values); at += o.width {
		s.values[at] = min(s.values[at], float32(most))
	}
}

// Forget what was not observed for two horizons.
func (o *Observations) Forget(now time.Time) {
	for name, s := range o.of {
		if o.at(now)-s.last >= slots {
			delete(o.of, name)
		}
	}
}

// Known is true for a pod that was observed.
func (o *Observations) Known(name string) bool { return o.of[name] != nil }

// Peak is the 95th percentile of what a pod used; nil for one that was not observed.
func (o *Observations) Peak(name string) []float64 {
	if !o.Known(name) {
		return nil
	}
	return o.PeakOfSum([]string{name})
}

// PeakOfSum is the 95th percentile of what these pods used together. Pods that peak at different times need less together than the sum
// of their peaks. A pod that has not been there for so long counts for the slots before with its largest value; one that was not observed
// counts with nothing.
func (o *Observations) PeakOfSum(names []string) []float64 {
	sums := o.sums
	clear(sums)
	for _, name := range names {
		s := o.of[name]
		if s == nil {
			continue
		}
		var most []float32 // of a pod that was there for all slots it is not needed
		if s.last-s.first+1 < slots {
			most = s.most(o.most)
		}
		for i := range int64(slots) {
			at := s.last - i
			for r := range o.width {
				var value float32
				if at >= s.first {
					value = s.values[int(at%slots)*o.width+r]
				} else {
					value = most[r]
				}
				// By age and not by slot: a node's report is a little older than another's.
				sums[r*slots+int(i)] += float64(value)
			}
		}
	}
	peaks := make([]float64, o.width)
	for r := range peaks {
		values := sums[r*slots : (r+1)*slots]
		slices.Sort(values)
		peaks[r] = values[int(math.Ceil(0.95*slots))-1]
	}
	return peaks
}

// most is the largest value of each resource, in the given space.
func (s *series) most(most []float32) []float32 {
	clear(most)
	for at := s.first; at <= s.last; at++ {
		for r := range most {
			most[r] = max(most[r], s.values[int(at%slots)*len(most)+r])
		}
	}
	return most
}
