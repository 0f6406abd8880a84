package predict

import (
	"bytes"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// encoded never fails.
func encoded(r *Record) []byte {
	data, _ := r.MarshalBinary()
	return data
}

// TestADecodedRecordPredictsTheSame draws pods that come, change and go, and what happens after the record was decoded.
func TestADecodedRecordPredictsTheSame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		profile := rapid.SampledFrom(Profiles()).Draw(t, "profile")
		before, at := NewRecord(), noon
		before.Remember(profile)
		pass := func(records ...*Record) {
			at = at.Add(time.Duration(rapid.IntRange(0, 200).Draw(t, "minutes")) * time.Minute)
			var samples []Sample
			for _, name := range []string{"a", "b", "c", "d"} {
				if rapid.Bool().Draw(t, name) {
					sample := used(name, rapid.Float64Range(0, 8).Draw(t, "cores"))
					sample.Prod = rapid.Bool().Draw(t, "prod")
					samples = append(samples, sample)
				}
			}
			for _, r := range records {
				r.Observe(at, samples)
			}
		}
		for range rapid.IntRange(0, 40).Draw(t, "measurements") {
			pass(before)
		}
		after, err := DecodeRecord(encoded(before), profile)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(encoded(after), encoded(before)) || !after.Last().Equal(before.Last()) {
			t.Fatal("the record that was decoded is encoded in another way")
		}
		for range 3 {
			for _, tier := range []Tier{Batch, Mid} {
				if diff := cmp.Diff(before.Forecast(tier, profile, 20*time.Minute), after.Forecast(tier, profile, 20*time.Minute)); diff != "" {
					t.Fatalf("forecast for %s (-before +after):\n%s", tier, diff)
				}
			}
			pass(before, after)
		}
	})
}

func TestAProfileThatReadsLessTakesLess(t *testing.T) {
	week := NewRecord()
	week.Remember(profileNamed(t, "seasonal"))
	for i := range 1500 {
		week.Observe(noon.Add(time.Duration(i)*RecordStep), []Sample{used("a", float64(i%8))})
	}
	for name, want := range map[string]int{"seasonal": 7*144 + 1, "balanced": 144 + 1} {
		got, err := DecodeRecord(encoded(week), profileNamed(t, name))
		if err != nil || len(got.pods["a"].used) != want || got.Span() != week.Span() {
			t.Fatalf("%s: %v, %d steps and a span of %s, want %d", name, err, len(got.pods["a"].used), got.Span(), want)
		}
		got.Observe(noon.Add(1500*RecordStep), []Sample{used("a", 1)})
		if kept := got.pods["a"].used; len(kept) != want || kept[len(kept)-2] != useOf(float64(1499%8), float64(1499%8)*gi) {
			t.Errorf("%s: %d steps after one more, want %d", name, len(kept), want)
		}
	}
}

func TestAnEncodedRecordIsBounded(t *testing.T) {
	r := NewRecord()
	r.Remember(profileNamed(t, "seasonal"))
	crowd := func(name string) (samples []Sample) {
		for i := range maxRecordedPods {
			samples = append(samples, used(fmt.Sprintf("%s-%d", name, i), 1))
		}
		return samples
	}
	r.Observe(noon, append(crowd("goes"), Sample{Pod: strings.Repeat("x", maxPodName+1)}))
	for i := range 1100 {
		r.Observe(noon.Add(time.Duration(i+100)*RecordStep), append(crowd("stays"), Sample{Pod: "odd", CPU: Held{math.NaN(), -1, math.Inf(1)}})[1:])
	}
	data := encoded(r)
	if most := maxRecordedPods*(4*maxSteps+100) + 100; len(data) > most {
		t.Errorf("%d bytes, want %d at most", len(data), most)
	}
	got, err := DecodeRecord(data, profileNamed(t, "seasonal"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"odd", "stays-1"} {
		if got.pods[name] == nil || !got.pods[name].present {
			t.Errorf("pod %q is not kept", name)
		}
	}
	if len(got.pods) > maxRecordedPods || got.pods["odd"].CPU != (Held{}) {
		t.Errorf("%d pods, the odd one of %+v", len(got.pods), got.pods["odd"].CPU)
	}
}

func TestWhatIsNoRecordIsRefused(t *testing.T) {
	r := NewRecord()
	r.Observe(noon, []Sample{used("a", 1), used("b", 2)})
	whole := encoded(r)
	change := func(at int, to byte) []byte {
		out := bytes.Clone(whole)
		out[at] = to
		return out
	}
	const pods, name, count = 17, 21, 23 // where those are in it
	for what, data := range map[string][]byte{
		"nothing": nil, "another version": change(0, 2), "a step before the epoch": change(1, 0x80), "the end of time": change(9, 0x7f), "a pod missing": change(pods+3, 3),
		"a pod too many": change(pods+3, 1), "a long name": change(name, 2), "more steps than observed": change(count+1, 2), "one cut off": whole[:len(whole)-1],
		"a pod twice": bytes.Replace(whole, []byte("b"), []byte("a"), 1), "text": []byte("\x01what is this, a record of pods?"),
	} {
		if got, err := DecodeRecord(data, profileNamed(t, "safe")); err == nil {
			t.Errorf("%s: %+v", what, got)
		}
	}
}

// FuzzDecodeRecord: what is decoded is encoded as it was, and predicts amounts.
func FuzzDecodeRecord(f *testing.F) {
	r := NewRecord()
	f.Add(encoded(r))
	for i := range 5 {
		r.Observe(noon.Add(time.Duration(i)*RecordStep), []Sample{used("a", float64(i)), used("b", 2)}[:1+i%2])
		f.Add(encoded(r))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, profile := range Profiles() {
			r, err := DecodeRecord(data, profile)
			if err != nil {
				continue
			}
			if profile.Past() == 7*day && !bytes.Equal(encoded(r), data) {
				t.Errorf("%x is encoded as %x", data, encoded(r))
			}
			for _, resource := range []Resource{CPU, Memory} {
				if forecast := r.Forecast(Mid, profile, day); forecast != nil && !amount(forecast.Of(resource).Peak.Value) {
					t.Errorf("%s predicts %+v", profile.Name, forecast)
				}
			}
			r.Observe(r.Last().Add(RecordStep), []Sample{used("a", 1)})
		}
	})
}
