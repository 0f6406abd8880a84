package eviction

import (
	"math"
	"testing"
	"time"

	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	"koordinator.sh/koord/decision/core/podrequest"
)

func TestForecast(t *testing.T) {
	strategy := slov1alpha1.ResourceThresholdStrategy{
		MemoryEvictThresholdPercent: new(int64(80)), CPUEvictThresholdPercent: new(int64(80)), EvictEnabledPriorityThreshold: new(int32(7999)),
	}
	in := input(all(), node(90_000, 90*giga), strategy,
		batch("exec-1", 5500, 0, 0, giga), batch("exec-2", 5500, 0, 0, 2*giga), service("web", 7000, podrequest.Amount{MilliCPU: 500, Memory: giga}))
	in.Budget = nil
	growing, falling := 1_000_000.0, -5.0
	want := map[Feature]struct {
		state   State
		seconds float64
		next    string
	}{
		BECPUEvict:          {Unset, -1, ""},
		CPUAllocatableEvict: {Unset, -1, ""},
		CPUEvict:            {Triggered, 0, "web"},
		// 96 G are 80 percent: 6 G more, at one million bytes per second.
		BEMemoryEvict:          {Calm, 6000, "exec-2"},
		MemoryAllocatableEvict: {Unset, -1, ""},
		MemoryEvict:            {Calm, 6000, "web"},
	}
	for _, got := range Forecast(in, Trend{CPU: &falling, Memory: &growing}, 1) {
		seconds, next := -1.0, ""
		if got.Seconds != nil {
			seconds = *got.Seconds
		}
		if len(got.Next) > 0 {
			next = got.Next[0].Pod.Name
		}
		w := want[got.Feature]
		if w.next == "" {
			next = ""
		}
		if got.State != w.state || seconds != w.seconds || next != w.next {
			t.Errorf("%s: %s in %v seconds, next %q; want %+v", got.Feature, got.State, seconds, next, w)
		}
	}
	for _, got := range Forecast(in, Trend{Memory: &falling}, 0) {
		if got.State != Triggered && got.Seconds != nil || len(got.Next) > 0 {
			t.Errorf("%s: %+v although use falls and nobody was asked for", got.Feature, got)
		}
	}
}

// TestHardlyAnyGrowthIsNever: a time beyond all numbers could not be shown.
func TestHardlyAnyGrowthIsNever(t *testing.T) {
	in := input(only(BEMemoryEvict), node(0, 0), slov1alpha1.ResourceThresholdStrategy{MemoryEvictThresholdPercent: new(int64(80))})
	for _, slope := range []float64{math.SmallestNonzeroFloat64, math.NaN(), 0} {
		if got := Forecast(in, Trend{Memory: &slope}, 0)[3]; got.Seconds != nil {
			t.Errorf("at %v bytes per second in %v seconds", slope, *got.Seconds)
		}
	}
}

func TestSlopeOf(t *testing.T) {
	at := func(seconds float64, value float64) Sample {
		return Sample{noon.Add(time.Duration(seconds * float64(time.Second))), value}
	}
	tests := map[string]struct {
		samples []Sample
		want    float64
		none    bool
	}{
		"a straight line":        {samples: []Sample{at(0, 100), at(10, 200), at(20, 300)}, want: 10},
		"in any order":           {samples: []Sample{at(20, 300), at(0, 100), at(10, 200)}, want: 10},
		"around a line":          {samples: []Sample{at(0, 1), at(1, 3), at(2, 2), at(3, 4)}, want: 0.8},
		"level":                  {samples: []Sample{at(0, 7), at(1, 7), at(2, 7)}, want: 0},
		"two samples are chance": {samples: []Sample{at(0, 1), at(1, 2)}, none: true},
		"all at once":            {samples: []Sample{at(0, 1), at(0, 2), at(0, 3)}, none: true},
		"nothing":                {none: true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := SlopeOf(tc.samples)
			if (got == nil) != tc.none || got != nil && math.Abs(*got-tc.want) > 1e-9 {
				t.Errorf("slope %v, want %v", got, tc.want)
			}
		})
	}
}
