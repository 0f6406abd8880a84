package jobinsight

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestTheMostSpecificLevelWithEnoughRunsCounts(t *testing.T) {
	other := func(change func(*Kind)) Kind {
		kind := daily
		change(&kind)
		return kind
	}
	tests := map[string]struct {
		runs      int
		asked     Kind
		wantLevel Level
		wantNone  bool
	}{
		"the kind itself":                  {runs: 3, asked: daily, wantLevel: ByKind},
		"another user of the application":  {runs: 3, asked: other(func(k *Kind) { k.User = "bob" }), wantLevel: ByShape},
		"another shape of the application": {runs: 5, asked: other(func(k *Kind) { k.Shape = "executor" }), wantLevel: ByApplication},
		"another application of the queue": {runs: 9, asked: other(func(k *Kind) { k.Application = "new" }), wantLevel: ByQueue},
		"nothing in common":                {runs: 9, asked: Kind{Application: "new"}, wantLevel: ByAll},
		"too few for another application":  {runs: 7, asked: Kind{Application: "new"}, wantNone: true},
		"two runs are too few":             {runs: 2, asked: daily, wantNone: true},
		"an unknown kind":                  {runs: 9, asked: Kind{}, wantLevel: ByAll},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			store := repeated(daily, test.runs, Completed, 2, time.Hour)
			var trace Trace
			got := store.Predict(test.asked, 0.9, &trace)
			for _, m := range Metrics() {
				estimate := got.Of(m)
				if test.wantNone != (estimate == nil) {
					t.Fatalf("%s: %+v, want none: %v", m, estimate, test.wantNone)
				}
				if estimate != nil && (estimate.Level != test.wantLevel || estimate.Runs != uint32(test.runs)) {
					t.Errorf("%s: by %s of %d runs, want by %s of %d", m, estimate.Level, estimate.Runs, test.wantLevel, test.runs)
				}
			}
			if last := trace.Tries[len(trace.Tries)-1]; last.Used == test.wantNone {
				t.Errorf("the last try is %+v", last)
			}
			if diff := cmp.Diff(store.Predict(test.asked, 0.9, nil), got); diff != "" {
				t.Errorf("differs with a trace:\n%s", diff)
			}
		})
	}
}

func TestTriesSayWhatTheyFound(t *testing.T) {
	store := repeated(daily, 2, Completed, 2, time.Hour)
	store.Observe(ended(daily, 3, Killed, 1, time.Second))
	var trace Trace
	store.Predict(daily, 0.9, &trace)
	if got, want := trace.Tries[0].Message(), "2 runs, grouped by user, queue, application and shape, 1 ended early: too few"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestRunsThatEndedEarlyAreLowerBounds(t *testing.T) {
	tests := map[string]struct {
		outcome          Outcome
		memory           float64
		duration         time.Duration
		wantMemoryWithin [2]float64
	}{
		"killed again and again at twice the usual peak": {outcome: OOMKilled, memory: 4, duration: time.Minute, wantMemoryWithin: [2]float64{3.9, 12}},
		"failed soon after the start":                    {outcome: Failed, memory: 0.1, duration: time.Second, wantMemoryWithin: [2]float64{1.8, 2.2}},
		"completed with less":                            {outcome: Completed, memory: 0.1, duration: time.Second, wantMemoryWithin: [2]float64{0.05, 0.8}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			store := repeated(daily, 12, Completed, 2, time.Hour)
			for i := range 20 {
				store.Observe(ended(daily, 100+i, test.outcome, test.memory, test.duration))
			}
			got := store.Predict(daily, 0.9, nil).Estimates[Memory]
			if peak := got.Point / gib; peak < test.wantMemoryWithin[0] || peak > test.wantMemoryWithin[1] {
				t.Errorf("%.2f GiB, want within %v", peak, test.wantMemoryWithin)
			}
		})
	}
}

// TestAKindThatIsAlwaysKilledIsPredictedAboveItsLimit: it must not fall back to a level of small runs.
func TestAKindThatIsAlwaysKilledIsPredictedAboveItsLimit(t *testing.T) {
	store := repeated(Kind{Application: "small"}, 50, Completed, 0.5, time.Minute)
	for i := range 20 {
		store.Observe(ended(daily, 100+i, OOMKilled, 8, time.Minute))
	}
	got := store.Predict(daily, 0.9, nil).Estimates[Memory]
	if got.Level != ByKind || got.High < 8*gib {
		t.Errorf("%.2f to %.2f GiB by %s, want above 8 by the kind", got.Low/gib, got.High/gib, got.Level)
	}
}

// TestIntervalsCoverWhatTheyState: of kinds that are spread differently, with heavy tails, and that drift.
func TestIntervalsCoverWhatTheyState(t *testing.T) {
	tests := map[string]struct {
		next func(r *rand.Rand, kind, i int) float64
	}{
		"spread normally":   {func(r *rand.Rand, kind, _ int) float64 { return spread(r, float64(kind+1), 0.1*float64(kind%7+1)) }},
		"with heavy tails":  {func(r *rand.Rand, kind, _ int) float64 { return float64(kind+1) * math.Exp(0.5*r.ExpFloat64()) }},
		"growing every run": {func(r *rand.Rand, kind, i int) float64 { return spread(r, math.Exp(float64(i)/4000), 0.3) }},
		"tripling at once": {func(r *rand.Rand, kind, i int) float64 {
			return spread(r, 1+2*indicator(i > 5000+100*kind), 0.3)
		}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			r, store := rand.New(rand.NewPCG(7, 7)), NewStore(0)
			var coverage [metrics]Coverage
			for i := range 12000 {
				kind := r.IntN(30)
				value := test.next(r, kind, i)
				run := ended(Kind{Application: string(rune('a' + kind))}, i, Completed, value, time.Duration(value*float64(time.Hour)))
				run.Values[CPU] = value
				for _, m := range Metrics() {
					if estimate := store.Predict(run.Kind, 0.9, nil).Of(m); estimate != nil && i > 2000 {
						coverage[m].judge(run.Values[m], estimate.Low, estimate.High)
					}
				}
				store.Observe(run)
			}
			for _, m := range Metrics() {
				if rate := coverage[m].Rate(); rate < 0.88 || rate > 0.93 {
					t.Errorf("%s: intervals of 90%% cover %.1f%% of %d", m, 100*rate, coverage[m].Judged)
				}
			}
		})
	}
}

func TestIntervalsAreInOrderAndGrowWithTheConfidence(t *testing.T) {
	store := busy(3000)
	for _, kind := range []Kind{{Application: "a", Shape: "x"}, {Application: "new"}, {User: "a", Queue: "q", Application: "b", Shape: "x"}} {
		var before *Estimate
		for _, confidence := range []float64{0.5, 0.8, 0.9, 0.95, 0.99} {
			for _, m := range Metrics() {
				got := store.Predict(kind, confidence, nil).Of(m)
				if !(got.Low > 0 && got.Low <= got.Point && got.Point <= got.High) {
					t.Errorf("%s of %s at %g: %+v", m, kind, confidence, got)
				}
				if m == Memory {
					if before != nil && (got.Low > before.Low || got.High < before.High) {
						t.Errorf("at %g: %+v is narrower than %+v", confidence, got, before)
					}
					before = got
				}
			}
		}
	}
}

func TestWhatIsNoMeasurementIsLeftOut(t *testing.T) {
	store := NewStore(0)
	for i := range 20 {
		store.Observe(Run{Kind: daily, Outcome: Completed, Ended: noon.Add(time.Duration(i) * time.Second),
			Values: [metrics]float64{math.NaN(), math.Inf(1), -1}})
	}
	got := store.Predict(daily, math.NaN(), nil)
	if diff := cmp.Diff(Prediction{Confidence: DefaultConfidence}, got); diff != "" {
		t.Errorf("predicted from nothing (-want +got):\n%s", diff)
	}
}

func TestRemaining(t *testing.T) {
	r, store := rand.New(rand.NewPCG(3, 3)), NewStore(0)
	for i := range 2000 {
		store.Observe(ended(daily, i, Completed, 2, time.Duration(spread(r, 3600, 0.3))*time.Second))
	}
	tests := map[string]struct {
		ran         time.Duration
		wantPoint   [2]time.Duration
		wantOverdue bool
	}{
		"that just started":           {0, [2]time.Duration{50 * time.Minute, 70 * time.Minute}, false},
		"half way":                    {30 * time.Minute, [2]time.Duration{25 * time.Minute, 38 * time.Minute}, false},
		"at the median":               {60 * time.Minute, [2]time.Duration{8 * time.Minute, 22 * time.Minute}, false},
		"longer than any of its kind": {20 * time.Hour, [2]time.Duration{time.Hour, 20 * time.Hour}, true},
	}
	for name, test := range tests {
		t.Run("a run "+name, func(t *testing.T) {
			got, ok := store.Remaining(daily, test.ran, 0.9)
			if !ok || got.Overdue != test.wantOverdue || got.Point < test.wantPoint[0] || got.Point > test.wantPoint[1] {
				t.Errorf("%v %+v, want a point within %v", ok, got, test.wantPoint)
			}
			if !(got.Low <= got.Point && got.Point <= got.High) {
				t.Errorf("%+v is not in order", got)
			}
		})
	}
	if _, ok := NewStore(0).Remaining(daily, time.Hour, 0.9); ok {
		t.Error("an empty store knows what remains")
	}
}
