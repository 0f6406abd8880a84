package histogram

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// drawn is a histogram of random samples, in any order of time.
func drawn(t *rapid.T, name string) *Histogram {
	h := New(CPU(), 12*time.Hour)
	for range rapid.IntRange(0, 60).Draw(t, name) {
		at := start.Add(time.Duration(rapid.Int64Range(0, int64(200*time.Hour)).Draw(t, "age")))
		h.Add(rapid.Float64Range(0, 100).Draw(t, "value"), rapid.Float64Range(0.5, 5).Draw(t, "weight"), at)
	}
	return h
}

func TestCheckpointsKeepPercentiles(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := drawn(t, "samples")
		data, err := h.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		if most := 24 + 2*CPU().Count(); len(data) > most {
			t.Fatalf("the checkpoint has %d bytes, want at most %d", len(data), most)
		}
		got, err := Decode(data, CPU(), 12*time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		if got.Empty() != h.Empty() {
			t.Fatalf("empty is %t after decoding, was %t", got.Empty(), h.Empty())
		}
		// A later sample must weigh as much against the decoded samples as against the original ones.
		for _, each := range []*Histogram{h, got} {
			each.Add(50, 1, start.Add(210*time.Hour))
		}
		for bucket := range CPU().Count() {
			was, is := share(h, bucket), share(got, bucket)
			if math.Abs(was-is) > 0.02 {
				t.Fatalf("bucket %d has %.4f of the weight after decoding, had %.4f", bucket, is, was)
			}
		}
	})
}

// share is how much of all weight is in a bucket.
func share(h *Histogram, bucket int) float64 {
	if i := bucket - h.from; i >= 0 && i < len(h.weights) && h.total > 0 {
		return h.weights[i] / h.total
	}
	return 0
}

func TestCheckpointsOfOtherKindsAreRefused(t *testing.T) {
	h := New(CPU(), time.Hour)
	h.Add(1, 1, start)
	data, _ := h.MarshalBinary()
	if _, err := Decode(data, Memory(), time.Hour); err == nil {
		t.Error("a checkpoint of CPU is read as one of memory")
	}
	if _, err := Decode(data, CPU(), 2*time.Hour); err == nil {
		t.Error("a checkpoint is read with another half-life")
	}
	if _, err := Decode(append(data, 0), CPU(), time.Hour); err == nil {
		t.Error("a byte behind the end is overlooked")
	}
	for n := range data {
		if _, err := Decode(data[:n], CPU(), time.Hour); err == nil {
			t.Errorf("the first %d of %d bytes are read as a whole checkpoint", n, len(data))
		}
	}
}

func FuzzDecode(f *testing.F) {
	h := New(CPU(), time.Hour)
	f.Add([]byte{})
	for _, value := range []float64{0.1, 1, 7, 500} {
		h.Add(value, 1, start)
		data, _ := h.MarshalBinary()
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		h, err := Decode(data, CPU(), time.Hour)
		if err != nil {
			return
		}
		previous := 0.0
		for _, fraction := range []float64{0, 0.5, 0.98, 1} {
			got := h.Percentile(fraction)
			if got < previous || math.IsNaN(got) || math.IsInf(got, 0) {
				t.Fatalf("percentile %g is %g after %g", fraction, got, previous)
			}
			previous = got
		}
		h.Add(1, 1, start.Add(time.Hour))
		again, err := h.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Decode(again, CPU(), time.Hour); err != nil {
			t.Fatalf("what was decoded is refused after encoding: %v", err)
		}
	})
}

func TestMergeEqualsAddingEverything(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := drawn(t, "a"), drawn(t, "b")
		ab, ba := New(CPU(), 12*time.Hour), New(CPU(), 12*time.Hour)
		for _, merge := range []struct{ into, what *Histogram }{{ab, a}, {ab, b}, {ba, b}, {ba, a}} {
			if err := merge.into.Merge(merge.what); err != nil {
				t.Fatal(err)
			}
		}
		for bucket := range CPU().Count() {
			if one, other := share(ab, bucket), share(ba, bucket); math.Abs(one-other) > 1e-9 {
				t.Fatalf("bucket %d has %g of the weight in one order, %g in the other", bucket, one, other)
			}
		}
		if a.Empty() || b.Empty() {
			return
		}
		// The median of a mixture lies between the medians of its parts.
		low, high := min(a.Percentile(0.5), b.Percentile(0.5)), max(a.Percentile(0.5), b.Percentile(0.5))
		if got := ab.Percentile(0.5); got < low || got > high {
			t.Fatalf("the median is %g, want between %g and %g of the parts", got, low, high)
		}
	})
}

func TestMergedSamplesDecayTogether(t *testing.T) {
	old, young, whole := New(CPU(), time.Hour), New(CPU(), time.Hour), New(CPU(), time.Hour)
	for i := range 10 {
		before, after := start.Add(time.Duration(i)*time.Minute), start.Add(300*time.Hour+time.Duration(i)*time.Minute)
		old.Add(8, 1, before)
		whole.Add(8, 1, before)
		young.Add(1, 1, after)
		whole.Add(1, 1, after)
	}
	if err := old.Merge(young); err != nil {
		t.Fatal(err)
	}
	for _, fraction := range []float64{0.01, 0.5, 0.99} {
		if got, want := old.Percentile(fraction), whole.Percentile(fraction); got != want {
			t.Errorf("percentile %g is %g after merging, %g when all are added", fraction, got, want)
		}
	}
	if err := old.Merge(New(Memory(), time.Hour)); err == nil {
		t.Error("memory is merged into CPU")
	}
}

func TestCheckpointsOfReferencesBetweenSecondsKeepTheirWeight(t *testing.T) {
	const halfLife = time.Second
	h := New(CPU(), halfLife)
	h.Add(1, 1, start.Add(999*time.Millisecond))
	data, err := h.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	got, err := Decode(data, CPU(), halfLife)
	if err != nil {
		t.Fatal(err)
	}
	for _, each := range []*Histogram{h, got} {
		each.Add(50, 1, start.Add(2*time.Second))
	}
	if was, is := share(h, CPU().Find(1)), share(got, CPU().Find(1)); math.Abs(was-is) > 1e-6 {
		t.Errorf("the old sample has %.4f of the weight after decoding, had %.4f", is, was)
	}
}
