package predict

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

var noon = time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)

const step = 5 * time.Minute

// every makes n values by their index.
func every(n int, value func(i int) float64) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = value(i)
	}
	return out
}

func constant(n int, value float64) []float64 { return every(n, func(int) float64 { return value }) }

// daily is a load between low and high with a rhythm of a day.
func daily(n int, low, high float64) []float64 {
	return every(n, func(i int) float64 { return low + (high-low)*(1-math.Cos(2*math.Pi*float64(i)/288))/2 })
}

func history(usages ...[]float64) *History {
	h := &History{Resource: CPU, Now: noon, Step: step, Horizon: time.Hour}
	for _, usage := range usages {
		h.Pods = append(h.Pods, Pod{Name: "p", Limit: 10, Usage: usage})
	}
	return h
}

func TestEstimators(t *testing.T) {
	alternating := func(first, second float64) []float64 {
		return every(288, func(i int) float64 { return []float64{first, second}[i%2] })
	}
	memory := history(alternating(1, 3))
	memory.Resource = Memory
	young := history(constant(288, 1), constant(10, 1))
	young.ColdStart = time.Hour
	tests := map[string]struct {
		predictor Predictor
		history   *History
		want      float64
		wantCold  int
	}{
		"N-sigma adds deviations to the mean":                {NSigma{N: 3, Window: day}, history(alternating(1, 3)), 2 + 3, 0},
		"N-sigma sees pods that take turns as calm":          {NSigma{N: 5, Window: day}, history(alternating(1, 3), alternating(3, 1)), 4, 0},
		"RC-like does not":                                   {RCLike{Fraction: 0.95, Window: day}, history(alternating(1, 3), alternating(3, 1)), 6, 0},
		"N-sigma forgets what is before its window":          {NSigma{N: 5, Window: time.Hour}, history(append(constant(288, 9), constant(12, 1)...)), 1, 0},
		"a prediction stays within the limits":               {NSigma{N: 5, Window: day}, history(alternating(0, 9)), 10, 0},
		"memory has no deviations but a maximum":             {NSigma{N: 1, Window: day}, memory, 3, 0},
		"a young pod counts at its limit":                    {NSigma{N: 3, Window: day}, young, 1 + 10, 1},
		"a pod without a past counts at its limit":           {RCLike{Fraction: 0.99, Window: day}, history(nil, constant(12, 2)), 12, 1},
		"the larger of two counts":                           {Max{NSigma{N: 0, Window: day}, RCLike{Fraction: 1, Window: day}}, history(alternating(1, 3)), 3, 0},
		"static is a share of the limits":                    {Static{Share: 0.9}, history(constant(1, 1), constant(1, 1)), 18, 0},
		"few pods, the careful one":                          {ByCount{2, Static{1}, Static{0.5}}, history(nil), 10, 0},
		"enough pods, the other":                             {ByCount{2, Static{1}, Static{0.5}}, history(nil, nil), 10, 0},
		"without a season the fallback predicts":             {Seasonal{7, 10, 0.5, Static{0.7}}, history(constant(2000, 1)), 7, 0},
		"the season of the hour to come, here the lowest":    {Seasonal{3, 10, 0.5, Static{1}}, history(daily(288*3, 1, 5)), 1.0573 * 1.1, 0},
		"the season of the hour to come, here up to the top": {Seasonal{3, 0, 0.5, Static{1}}, history(daily(288*3-150, 1, 5)), 4.999, 0},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got := test.predictor.Peak(test.history)
			if diff := cmp.Diff(test.want, got.Value, cmpopts.EquateApprox(0, 0.01)); diff != "" {
				t.Errorf("peak (-want +got):\n%s%+v", diff, got)
			}
			if got.ColdPods != test.wantCold {
				t.Errorf("%d cold pods, want %d", got.ColdPods, test.wantCold)
			}
		})
	}
}

func TestKoordinatorTakesThePodsThatDoNotPeakTogetherApart(t *testing.T) {
	one := every(288, func(i int) float64 { return []float64{0.5, 4}[i/20%2] })
	other := every(288, func(i int) float64 { return []float64{4, 0.5}[i/20%2] })
	got := Koordinator{MarginPercent: 10}.Peak(history(one, other))
	// Two pods of 4 cores, each 10 % and at most one bucket of 5 % above.
	if got.Value < 8.8 || got.Value > 8.8*1.06 {
		t.Errorf("peak is %g, want about 8.8: %+v", got.Value, got)
	}
	if bySum := got.Terms[1].Value; bySum < 4.95 || bySum > 4.95*1.06 {
		t.Errorf("peak of the sum is %g, want about 4.95", bySum)
	}
}

func drawnHistory(t *rapid.T) *History {
	h := &History{
		Resource: rapid.SampledFrom([]Resource{CPU, Memory}).Draw(t, "resource"), Now: noon, Step: step, Horizon: time.Hour,
		ColdStart: time.Duration(rapid.IntRange(0, 3).Draw(t, "cold")) * time.Hour,
	}
	for range rapid.IntRange(0, 12).Draw(t, "pods") {
		limit := rapid.Float64Range(0, 64).Draw(t, "limit")
		h.Pods = append(h.Pods, Pod{Limit: limit, Usage: rapid.SliceOfN(rapid.Float64Range(0, 2*limit), 0, 50).Draw(t, "usage")})
	}
	return h
}

func TestEveryProfileStaysBetweenNothingAndTheLimits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := drawnHistory(t)
		if err := h.Validate(); err != nil {
			t.Fatal(err)
		}
		for _, profile := range Profiles() {
			got := profile.Peak(h)
			if !(got.Value >= 0) || got.Value > h.limits()*(1+1e-9) {
				t.Fatalf("%s predicts %g of limits %g", profile.Name, got.Value, h.limits())
			}
			if got.Estimator == "" {
				t.Fatalf("%s does not say how it came to %g", profile.Name, got.Value)
			}
		}
	})
}

func TestMoreCautionNeverPredictsLess(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := drawnHistory(t)
		peak := func(p Predictor) float64 { return p.Peak(h).Value }
		for _, pair := range []struct {
			name              string
			careful, careless Predictor
		}{
			{"5-sigma and 3-sigma", NSigma{5, day}, NSigma{3, day}},
			{"p99 and p95", RCLike{0.99, day}, RCLike{0.95, day}},
			{"max and its part", safe, NSigma{5, day}},
			{"a margin and none", Koordinator{10}, Koordinator{0}},
		} {
			if careful, careless := peak(pair.careful), peak(pair.careless); careful < careless-1e-9 {
				t.Fatalf("%s: the careful one predicts %g, the other %g", pair.name, careful, careless)
			}
		}
	})
}

func TestHistoriesThatAreNoneAreRefused(t *testing.T) {
	for name, h := range map[string]*History{
		"without a step":            {Pods: []Pod{{}}},
		"negative usage":            {Step: step, Pods: []Pod{{Usage: []float64{-1}}}},
		"usage without end":         {Step: step, Pods: []Pod{{Usage: []float64{math.Inf(1)}}}},
		"a limit that is no number": {Step: step, Pods: []Pod{{Limit: math.NaN()}}},
	} {
		if err := h.Validate(); err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
}

func TestProfilesAreFoundByName(t *testing.T) {
	for _, profile := range Profiles() {
		if got, err := ProfileNamed(profile.Name); err != nil || got.Summary != profile.Summary {
			t.Errorf("%s: found %q, %v", profile.Name, got.Name, err)
		}
	}
	if _, err := ProfileNamed(DefaultProfile); err != nil {
		t.Error(err)
	}
	if _, err := ProfileNamed("best"); err == nil {
		t.Error("profile best is found")
	}
}
