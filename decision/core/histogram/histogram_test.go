package histogram

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

var start = time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)

// linear buckets have the same width.
type linear struct {
	maximum, width float64
}

func (l linear) Count() int { return int(math.Ceil(l.maximum/l.width)) + 1 }

func (l linear) Find(value float64) int { return clamp(value/l.width, l.Count()) }

func (l linear) Start(bucket int) float64 { return float64(bucket) * l.width }

func TestHistogramPercentile(t *testing.T) {
	buckets := linear{maximum: 10, width: 1}
	tests := map[string]struct {
		halfLife time.Duration
		want     map[float64]float64
	}{
		"samples of equal age": {want: map[float64]float64{0.1: 2, 0.2: 3, 0.5: 4, 0.7: 5}},
		"an hour apart, with a half-life of an hour": {
			halfLife: time.Hour, want: map[float64]float64{0.02: 2, 0.10: 3, 0.34: 4, 0.35: 5},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			h := New(buckets, test.halfLife)
			for i := 1; i <= 4; i++ {
				h.Add(float64(i), float64(i), start.Add(time.Duration(i)*time.Hour))
			}
			got := map[float64]float64{}
			for fraction := range test.want {
				got[fraction] = h.Percentile(fraction)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("percentiles (-want +got):\n%s", diff)
			}
		})
	}
}

func TestExponentialBuckets(t *testing.T) {
	buckets := NewExponential(500, 40, 1.5)
	var got []string
	for i := range buckets.Count() {
		got = append(got, fmt.Sprintf("%.4g", buckets.Start(i)))
	}
	if diff := cmp.Diff([]string{"0", "40", "100", "190", "325", "527.5"}, got); diff != "" {
		t.Errorf("starts (-want +got):\n%s", diff)
	}
	for value, want := range map[float64]int{-1: 0, 0: 0, 39.9: 0, 40: 1, 99: 1, 101: 2, 526: 4, 600: 5, 1e300: 5, math.NaN(): 0} {
		if got := buckets.Find(value); got != want {
			t.Errorf("Find(%g) = %d, want %d", value, got, want)
		}
	}
}

func TestHistogramForgets(t *testing.T) {
	h := New(CPU(), time.Hour)
	for minute := range 60 {
		h.Add(8, 1, start.Add(time.Duration(minute)*time.Minute))
	}
	for minute := range 600 {
		h.Add(1, 1, start.Add(time.Hour).Add(time.Duration(minute)*time.Minute))
	}
	if got := h.Percentile(0.98); got > 1.1 {
		t.Errorf("ten half-lives later the 98th percentile is %g, want about 1", got)
	}
	h.Add(2, 1, start.Add(1000*time.Hour))
	if got := h.Percentile(0.01); got < 2 || got > 2.2 {
		t.Errorf("a thousand half-lives later the histogram knows %g, want the latest sample, 2", got)
	}
}

func TestHistogramIgnoresWhatIsNoSample(t *testing.T) {
	h := New(CPU(), time.Hour)
	for _, weight := range []float64{0, -1, math.NaN(), math.Inf(1)} {
		h.Add(1, weight, start)
	}
	if !h.Empty() || h.Percentile(0.5) != 0 {
		t.Errorf("percentile = %g of a histogram without samples, want 0", h.Percentile(0.5))
	}
}

func TestHistogramProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := New(CPU(), 12*time.Hour)
		at, largest, smallest := start, 0.0, math.Inf(1)
		for range rapid.IntRange(1, 100).Draw(t, "samples") {
			at = at.Add(time.Duration(rapid.Int64Range(0, int64(100*time.Hour)).Draw(t, "gap")))
			value := rapid.Float64Range(0, 1000).Draw(t, "value")
			h.Add(value, rapid.Float64Range(0.1, 100).Draw(t, "weight"), at)
			largest, smallest = max(largest, value), min(smallest, value)
		}
		previous := 0.0
		for _, fraction := range []float64{0, 0.5, 0.9, 0.95, 0.98, 1} {
			got := h.Percentile(fraction)
			if got < previous {
				t.Fatalf("percentile %g is %g, lower than %g before it", fraction, got, previous)
			}
			if got < smallest || got > max(largest*1.051, 0.025)+0.03 {
				t.Fatalf("percentile %g is %g, of samples from %g to %g", fraction, got, smallest, largest)
			}
			previous = got
		}
		if len(h.weights) > CPU().Count() {
			t.Fatalf("%d buckets are stored of %d", len(h.weights), CPU().Count())
		}
	})
}
