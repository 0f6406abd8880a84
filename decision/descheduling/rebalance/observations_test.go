package rebalance

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestObservations(t *testing.T) {
	minutes := func(n int) time.Time { return noon.Add(time.Duration(n) * time.Minute) }
	tests := map[string]struct {
		observe func(*Observations)
		want    []float64
	}{
		"nothing": {observe: func(*Observations) {}},
		"the largest value of a slot": {
			observe: func(o *Observations) {
				o.Observe("p", []float64{1}, minutes(0))
				o.Observe("p", []float64{3}, minutes(1))
				o.Observe("p", []float64{2}, minutes(2))
			}, want: []float64{3},
		},
		"one high slot of two hours is not within the 95th percentile": {
			observe: func(o *Observations) {
				for i := range 120 {
					o.Observe("p", []float64{1}, minutes(i))
				}
				o.Observe("p", []float64{9}, minutes(119))
			}, want: []float64{1},
		},
		"two are": {
			observe: func(o *Observations) {
				for i := range 120 {
					o.Observe("p", []float64{1}, minutes(i))
				}
				o.Observe("p", []float64{9}, minutes(119))
				o.Observe("p", []float64{9}, minutes(120))
			}, want: []float64{9},
		},
		"what was two hours ago is forgotten": {
			observe: func(o *Observations) {
				for i := range 60 {
					o.Observe("p", []float64{9}, minutes(i))
				}
				for i := range 120 {
					o.Observe("p", []float64{1}, minutes(60+i))
				}
			}, want: []float64{1},
		},
		"a gap is what was before it": {
			observe: func(o *Observations) {
				o.Observe("p", []float64{5}, minutes(0))
				o.Observe("p", []float64{1}, minutes(60))
			}, want: []float64{5},
		},
		"values that cannot be used": {
			observe: func(o *Observations) {
				o.Observe("p", []float64{2}, minutes(0))
				o.Observe("p", []float64{math.NaN()}, minutes(1))
				o.Observe("p", []float64{-5}, minutes(1))
				o.Observe("p", []float64{math.Inf(1)}, minutes(1))
				o.Observe("p", []float64{1, 2}, minutes(1))
				o.Observe("p", []float64{7}, minutes(-10))
			}, want: []float64{2},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			o := NewObservations(1, time.Hour)
			test.observe(o)
			if diff := cmp.Diff(test.want, o.Peak("p")); diff != "" {
				t.Errorf("peak (-want +got):\n%s", diff)
			}
		})
	}
}

func TestPodsThatPeakAtDifferentTimesNeedLessTogether(t *testing.T) {
	o := NewObservations(1, time.Hour)
	for i := range 24 {
		at, early := noon.Add(time.Duration(i)*5*time.Minute), 1.0
		if i < 12 {
			early = 5
		}
		o.Observe("p", []float64{early}, at)
		o.Observe("q", []float64{6 - early}, at)
	}
	if diff := cmp.Diff([]float64{6}, o.PeakOfSum([]string{"p", "q", "unknown"})); diff != "" {
		t.Errorf("together (-want +got):\n%s", diff)
	}
	o.Forget(noon.Add(4 * time.Hour))
	if o.Known("p") {
		t.Error("p was not observed for two horizons and is still known")
	}
}
