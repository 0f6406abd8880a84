package metrics

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

var start = time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)

// filled returns a window with one sample a second, of the given amounts of CPU and of ten times as much memory.
func filled(capacity int, amounts ...int64) *Window {
	w := NewWindow(capacity)
	for i, amount := range amounts {
		w.Add(start.Add(time.Duration(i)*time.Second), Usage{NanoCores: amount, Memory: 10 * amount})
	}
	return w
}

func TestWindowAverage(t *testing.T) {
	tests := map[string]struct {
		window   *Window
		at, over time.Duration
		wantCPU  int64
		wantOK   bool
	}{
		"no samples":                            {window: filled(4), at: 0, over: time.Minute},
		"all samples":                           {window: filled(4, 1, 2, 3), at: 2 * time.Second, over: time.Minute, wantCPU: 2, wantOK: true},
		"the window is open at its old end":     {window: filled(4, 1, 5, 7), at: 2 * time.Second, over: 2 * time.Second, wantCPU: 6, wantOK: true},
		"samples after the moment do not count": {window: filled(4, 1, 5, 700), at: time.Second, over: time.Minute, wantCPU: 3, wantOK: true},
		"the oldest samples are forgotten":      {window: filled(2, 100, 4, 6), at: 2 * time.Second, over: time.Minute, wantCPU: 5, wantOK: true},
		"all samples are too old":               {window: filled(4, 1, 2, 3), at: time.Hour, over: time.Minute},
		"absurd amounts do not overflow":        {window: filled(2, 1<<62, 1<<62), at: time.Second, over: time.Minute, wantCPU: maxAmount, wantOK: true},
		"negative amounts count as zero":        {window: filled(2, -5, 3), at: time.Second, over: time.Minute, wantCPU: 1, wantOK: true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, ok := test.window.Average(start.Add(test.at), test.over)
			if got.NanoCores != test.wantCPU || ok != test.wantOK {
				t.Errorf("Average() = %d, %t, want %d, %t", got.NanoCores, ok, test.wantCPU, test.wantOK)
			}
		})
	}
}

func TestWindowPercentilesAreNearestRank(t *testing.T) {
	w := filled(20, 20, 1, 19, 2, 18, 3, 17, 4, 16, 5, 15, 6, 14, 7, 13, 8, 12, 9, 11, 10)
	got := w.Percentiles(start.Add(20*time.Second), time.Minute, 0, 0.5, 0.9, 0.95, 0.99, 1)
	var cpu, memory []int64
	for _, usage := range got {
		cpu, memory = append(cpu, usage.NanoCores), append(memory, usage.Memory)
	}
	if diff := cmp.Diff([]int64{1, 10, 18, 19, 20, 20}, cpu); diff != "" {
		t.Errorf("cpu (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]int64{10, 100, 180, 190, 200, 200}, memory); diff != "" {
		t.Errorf("memory (-want +got):\n%s", diff)
	}
}

func TestWindowDropsSamplesOutOfOrder(t *testing.T) {
	w := filled(4, 1, 2)
	w.Add(start, Usage{NanoCores: 100})
	w.Add(start.Add(time.Second), Usage{NanoCores: 100})
	if got, _ := w.Average(start.Add(time.Minute), time.Hour); got.NanoCores != 1 {
		t.Errorf("Average() = %d, want 1, of the samples 1 and 2", got.NanoCores)
	}
}

func TestWindowCovers(t *testing.T) {
	w := filled(100, make([]int64, 31)...) // 30 seconds from the first sample to the last
	at := start.Add(30 * time.Second)
	for over, want := range map[time.Duration]bool{time.Minute: true, 61 * time.Second: false, 10 * time.Second: true} {
		if got := w.Covers(at, over); got != want {
			t.Errorf("30 s of samples cover %s: %t, want %t", over, got, want)
		}
	}
	if NewWindow(5).Covers(at, time.Nanosecond) {
		t.Error("an empty window covers something")
	}
}

func TestWindowProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		capacity := rapid.IntRange(-1, 2*MaxSamples).Draw(t, "capacity")
		w := NewWindow(capacity)
		at := start
		for range rapid.IntRange(1, 200).Draw(t, "samples") {
			at = at.Add(time.Duration(rapid.Int64Range(-1e9, 1e10).Draw(t, "gap")))
			w.Add(at, Usage{NanoCores: rapid.Int64().Draw(t, "cpu"), Memory: rapid.Int64().Draw(t, "memory")})
		}
		if len(w.ring) > MaxSamples || w.count > len(w.ring) {
			t.Fatalf("window of %d keeps %d of %d samples", capacity, w.count, len(w.ring))
		}
		over := time.Duration(rapid.Int64Range(0, 1e12).Draw(t, "over"))
		p := w.Percentiles(at, over, 0, 0.5, 0.9, 0.95, 0.99, 1)
		mean, ok := w.Average(at, over)
		if ok != (p != nil) {
			t.Fatalf("there is an average: %t, and percentiles: %v", ok, p)
		}
		for i := 1; i < len(p); i++ {
			if p[i].NanoCores < p[i-1].NanoCores || p[i].Memory < p[i-1].Memory {
				t.Fatalf("percentiles fall: %v", p)
			}
		}
		if ok && (mean.NanoCores < p[0].NanoCores || mean.NanoCores > p[5].NanoCores || mean.Memory < p[0].Memory || mean.Memory > p[5].Memory) {
			t.Fatalf("average %v lies outside of %v", mean, p)
		}
	})
}
