package metrics

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

// TestWindowsRecoverWhenTheClockIsSet by an hour either way: within a minute they cover that minute, and nothing else.
func TestWindowsRecoverWhenTheClockIsSet(t *testing.T) {
	for _, jump := range []time.Duration{time.Hour, -time.Hour, -20 * time.Second} {
		w := NewWindow(300)
		at := start
		for range 300 {
			at = at.Add(time.Second)
			w.Add(at, Usage{NanoCores: 100})
		}
		at = at.Add(jump)
		for range 60 {
			at = at.Add(time.Second)
			w.Add(at, Usage{NanoCores: 7})
		}
		if got, ok := w.Average(at, time.Minute); !ok || got.NanoCores != 7 {
			t.Errorf("clock set by %s: average %d, %t, want 7", jump, got.NanoCores, ok)
		}
		if !w.Covers(at, time.Minute) {
			t.Errorf("clock set by %s: the window does not cover a minute", jump)
		}
	}
}

// TestWindowsAreInOrderWhateverTheClockDoes adds samples at any times.
func TestWindowsAreInOrderWhateverTheClockDoes(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		w := NewWindow(rapid.IntRange(1, 8).Draw(r, "capacity"))
		for _, step := range rapid.SliceOfN(rapid.IntRange(-25, 12), 1, 40).Draw(r, "steps") {
			at := start.Add(time.Duration(step) * time.Second)
			if w.count > 0 {
				at = time.Unix(0, w.back(0).at).Add(time.Duration(step) * time.Second)
			}
			w.Add(at, Usage{NanoCores: 1})
			if late := w.back(0).at - at.UnixNano(); late < 0 || late > int64(setBack) {
				r.Fatalf("the latest sample is of %d after one of %d", w.back(0).at, at.UnixNano())
			}
			for i := 1; i < w.count; i++ {
				if w.back(i).at >= w.back(i-1).at {
					r.Fatalf("sample %d is not older than the one after it", i)
				}
			}
		}
	})
}
