package predict

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

const gi = 1 << 30

// used is a pod of 4 cores and 4 GiB requested and 8 cores at most, and what it uses: as many cores as GiB.
func used(pod string, cores float64) Sample {
	return Sample{Pod: pod, Prod: true, CPU: Held{cores, 4, 8}, Memory: Held{cores * gi, 4 * gi, 0}}
}

// observe feeds a measurement a step, and returns the outcomes.
func observe(r *Record, from time.Time, steps ...[]Sample) []Outcome {
	var over []Outcome
	for i, samples := range steps {
		over = append(over, r.Observe(from.Add(time.Duration(i)*RecordStep), samples)...)
	}
	return over
}

func profileNamed(t *testing.T, name string) Profile {
	t.Helper()
	p, err := ProfileNamed(name)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestForecast(t *testing.T) {
	var calm, wave [][]Sample
	for i := range 144 {
		calm = append(calm, []Sample{used("a", 2), used("b", 1)})
		wave = append(wave, []Sample{used("a", 1+2*float64(i%2))})
	}
	tests := map[string]struct {
		steps       [][]Sample
		tier        Tier
		profile     string
		coldStart   time.Duration
		wantCPU     float64
		wantCold    int
		wantRequest float64
	}{
		"one measurement predicts itself without cold start": {[][]Sample{{used("a", 2)}}, Batch, "n-sigma", 0, 2, 0, 4},
		"of a record that is young all count by request":     {calm[:5], Batch, "n-sigma", time.Hour, 4 + 4, 2, 8},
		"a calm node":             {calm, Batch, "n-sigma", time.Hour, 3, 0, 8},
		"deviations are added":    {wave, Batch, "aggressive", 0, 2 + 3, 0, 4},
		"the percentile of a pod": {wave, Batch, "rc-like", 0, 3, 0, 4},
		"a pod that came after the others counts by request": {slices.Concat(calm, [][]Sample{{used("a", 2), used("b", 1), used("new", 0.1)}}), Batch, "n-sigma", time.Hour, 3 + 4, 1, 12},
		"unless it uses more":                                {slices.Concat(calm, [][]Sample{{used("a", 2), used("b", 1), used("new", 6)}}), Batch, "n-sigma", time.Hour, 3 + 6, 1, 12},
		"a pod that is gone is not predicted":                {slices.Concat(calm, [][]Sample{{used("a", 2)}}), Batch, "n-sigma", time.Hour, 2, 0, 4},
		"mid pods matter to batch":                           {[][]Sample{{used("a", 2), {Pod: "m", CPU: Held{1, 1, 1}}}}, Batch, "n-sigma", 0, 3, 0, 5},
		"mid pods do not matter to mid":                      {[][]Sample{{used("a", 2), {Pod: "m", CPU: Held{1, 1, 1}}}}, Mid, "n-sigma", 0, 2, 0, 4},
		"a share of the limits":                              {calm, Mid, "static", 0, 0.9 * 16, 0, 8},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			r := NewRecord()
			observe(r, noon, test.steps...)
			got := r.Forecast(test.tier, profileNamed(t, test.profile), test.coldStart)
			if math.Abs(got.CPU.Peak.Value-test.wantCPU) > 0.001 || got.CPU.Peak.ColdPods != test.wantCold || got.CPU.Requested != test.wantRequest {
				t.Errorf("got %+v, want %g with %d cold pods of %g requested", got.CPU, test.wantCPU, test.wantCold, test.wantRequest)
			}
		})
	}
}

// TestARestartNeverLowersAPeak compares what is predicted of pods that stay within their requests, and are limited to them,
// with what a record predicts that lost its past a moment ago.
func TestARestartNeverLowersAPeak(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		before, after := NewRecord(), NewRecord()
		const coldStart = 3 * RecordStep
		samples := func() []Sample {
			var out []Sample
			for _, name := range []string{"a", "b", "c"} {
				cores := rapid.Float64Range(0, 4).Draw(t, name)
				out = append(out, Sample{Pod: name, Prod: true, CPU: Held{cores, 4, 4}, Memory: Held{cores * gi, 4 * gi, 4 * gi}})
			}
			return out
		}
		steps, known := 0, rapid.IntRange(1, 50).Draw(t, "steps before")
		for ; steps < known; steps++ {
			before.Observe(noon.Add(time.Duration(steps)*RecordStep), samples())
		}
		for range 2 { // the third step ends the cold start
			at, now := noon.Add(time.Duration(steps)*RecordStep), samples()
			before.Observe(at, now)
			after.Observe(at, now)
			steps++
			for _, profile := range Profiles() {
				if profile.Name == "static" { // it looks at nothing that could be lost
					continue
				}
				for _, tier := range []Tier{Batch, Mid} {
					kept, lost := before.Forecast(tier, profile, coldStart), after.Forecast(tier, profile, coldStart)
					for _, resource := range []Resource{CPU, Memory} {
						if got, want := lost.Of(resource).Peak.Value, kept.Of(resource).Peak.Value; got < want*(1-1e-9) {
							t.Fatalf("%s predicts %g of %s after the restart, and would have predicted %g", profile.Name, got, resource, want)
						}
					}
				}
			}
		}
	})
}

func TestNothingIsForecastBeforeTheFirstMeasurement(t *testing.T) {
	if got := NewRecord().Forecast(Batch, profileNamed(t, "safe"), 0); got != nil {
		t.Errorf("got %+v", got)
	}
}

// TestPredictionsAreJudgedWhenTheirTimeIsOver lets a pod that used one core use three of its eight half an hour later.
func TestPredictionsAreJudgedWhenTheirTimeIsOver(t *testing.T) {
	r, profile := NewRecord(), profileNamed(t, "n-sigma")
	var over []Outcome
	for i := range 8 {
		cores := 1.0
		if i >= 3 {
			cores = 3
		}
		over = append(over, r.Observe(noon.Add(time.Duration(i)*RecordStep), []Sample{used("a", cores), used("late", cores)}[:1+min(i/2, 1)])...)
		if i == 0 {
			r.Forecast(Batch, profile, 0)
			r.Forecast(Batch, profile, 0) // the same step is judged once
		}
	}
	want := []Outcome{
		{Tier: Batch, Resource: CPU, Profile: "n-sigma", Predicted: 1, Peak: 3, Limits: 8},
		{Tier: Batch, Resource: Memory, Profile: "n-sigma", Predicted: gi, Peak: 3 * gi, Limits: 4 * gi},
	}
	if diff := cmp.Diff(want, over); diff != "" {
		t.Errorf("outcomes (-want +got):\n%s", diff)
	}
	var tally Tally
	tally.Add(over[0].Predicted, over[0].Peak, over[0].Limits)
	if score := tally.Score(); score.ViolationRate != 1 || score.Severity != 2 || score.Savings != 1-1.0/8 || score.OracleSavings != 1-3.0/8 {
		t.Errorf("score is %+v", score)
	}
}

// TestPredictionsOfADayAreJudgedByTheHour observes a day and two hours, and predicts for both tiers in each step.
func TestPredictionsOfADayAreJudgedByTheHour(t *testing.T) {
	r, profile := NewRecord(), profileNamed(t, "n-sigma")
	got := map[Tier]int{}
	for i := range 26 * 6 {
		for _, outcome := range r.Observe(noon.Add(time.Duration(i)*RecordStep), []Sample{used("a", 1)}) {
			got[outcome.Tier]++
		}
		r.Forecast(Batch, profile, 0)
		r.Forecast(Mid, profile, 0)
	}
	// The last prediction that is over was made a horizon and a step before the last observation, number 155: those of batch
	// in steps 0 to 148, those of mid in steps 0 and 6.
	want := map[Tier]int{Batch: 2 * 149, Mid: 2 * 2}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("outcomes (-want +got):\n%s", diff)
	}
	if r.Forecast(Mid, profileNamed(t, "safe"), 0); r.points[len(r.points)-1].profile != "safe" {
		t.Error("another profile is judged an hour later only")
	}
}

func TestARecordForgetsWhatIsTooOld(t *testing.T) {
	r := NewRecord()
	for i := range 400 {
		r.Observe(noon.Add(time.Duration(i)*RecordStep), []Sample{used("stays", 1), used("goes", 1)}[:1+min(max(20-i, 0), 1)])
	}
	if got := len(r.pods["stays"].used); got != 145 {
		t.Errorf("%d values are kept, want a day and one", got)
	}
	if got := cap(r.pods["stays"].used); got > 145 {
		t.Errorf("there is room for %d values, want none beyond what is kept", got)
	}
	if _, kept := r.pods["goes"]; kept {
		t.Error("a pod that is long gone is kept")
	}
	r.Remember(profileNamed(t, "seasonal"))
	for i := range 2000 {
		r.Observe(noon.Add(time.Duration(400+i)*RecordStep), []Sample{used("stays", 1)})
	}
	if got := len(r.pods["stays"].used); got != 7*144+1 {
		t.Errorf("%d values are kept, want a week and one", got)
	}
	r.Observe(noon.Add(1000*time.Hour), []Sample{used("stays", 2)})
	if got := r.Span(); got != RecordStep {
		t.Errorf("after a long silence it remembers %s", got)
	}
	if r.Observe(noon, []Sample{used("stays", 9)}); r.pods["stays"].Sample.CPU.Used != 2 {
		t.Error("a measurement of the past is taken")
	}
}

// TestAForecastCoversTheLastMeasurement draws pods that come, change and go.
func TestAForecastCoversWhatMattersToItsProfile(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r, at := NewRecord(), noon
		names := []string{"a", "b", "c", "d"}
		for range rapid.IntRange(1, 30).Draw(t, "measurements") {
			at = at.Add(time.Duration(rapid.IntRange(0, 40).Draw(t, "minutes")) * time.Minute)
			var samples []Sample
			for _, name := range names {
				if rapid.Bool().Draw(t, name) {
					samples = append(samples, used(name, rapid.Float64Range(0, 8).Draw(t, "cores")))
				}
			}
			for _, outcome := range r.Observe(at, samples) {
				if !(outcome.Peak >= 0) || outcome.Peak > 32+1e-3 && outcome.Resource == CPU {
					t.Fatalf("outcome %+v", outcome)
				}
			}
			for _, profile := range Profiles() {
				r.Remember(profile)
				for _, tier := range []Tier{Batch, Mid} {
					f := r.Forecast(tier, profile, 20*time.Minute)
					if f.Pods != len(samples) || !(f.CPU.Peak.Value >= 0) || f.CPU.Peak.Value > f.CPU.Limits*(1+1e-9) {
						t.Fatalf("%s predicts %+v of %d pods", profile.Name, f.CPU, len(samples))
					}
				}
			}
		}
	})
}
