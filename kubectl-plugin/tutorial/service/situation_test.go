package service

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"koordinator.sh/koord/sandbox/workload"
)

func TestSituationsAreComparedWithTheEnginePaused(t *testing.T) {
	of := func(name string, rate float64, p99 time.Duration, used, progress float64, paused *Situation) Situation {
		return Situation{Name: name, Rate: rate, Summary: workload.Summary{P50: time.Millisecond, P99: p99}, Used: used, Progress: progress, Paused: paused}
	}
	pausedLow, pausedHigh := of("engine paused", Low, 10*time.Millisecond, 0.2, 0, nil), of("engine paused", 150, 0, 0.5, 0, nil)
	together := of("beside", Low, 12*time.Millisecond, 0.6, 0.5, &pausedLow)
	got := Table("TASKS/MIN", 60, of("alone", Low, 9*time.Millisecond, 0.2, 0, nil), together, of("beside", 150, 20*time.Millisecond, 0.75, 0, &pausedHigh))
	want := [][]string{
		{"SITUATION", "REQUESTS/S", "P50", "P99", "TO PAUSED", "CPU USED", "TO PAUSED", "TASKS/MIN"},
		{"alone", "50", "1.0 ms", "9.0 ms", "-", "20 %", "-", "-"},
		{"engine paused", "50", "1.0 ms", "10.0 ms", "-", "20 %", "-", "-"},
		{"beside", "50", "1.0 ms", "12.0 ms", "1.20x", "60 %", "3.00x", "30.0"},
		{"engine paused", "150", "1.0 ms", "0.0 ms", "-", "50 %", "-", "-"},
		{"beside", "150", "1.0 ms", "20.0 ms", "-", "75 %", "1.50x", "0.0"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("table (-want +got):\n%s", diff)
	}
	const seen = "The p99 is 12.0 ms, 1.20x of what it is with the engine paused. 60 % of the machine's CPU is used, 3.00x of what is used with it paused."
	if diff := cmp.Diff(seen, together.Seen()); diff != "" {
		t.Errorf("what was seen (-want +got):\n%s", diff)
	}
}

// TestWhatIsObservedInTurnsIsAddedUp: the times between the turns count for nothing.
func TestWhatIsObservedInTurnsIsAddedUp(t *testing.T) {
	o := observed{
		took: []time.Duration{3 * time.Millisecond, time.Millisecond}, cpu: workload.CPUTime{Used: 30, Total: 120},
		done: 60, during: 20 * time.Second,
	}
	want := Situation{
		Name: "beside", Rate: Low, Used: 0.25, Progress: 3,
		Summary: workload.Summary{Requests: 2, P50: time.Millisecond, P99: 3 * time.Millisecond, Max: 3 * time.Millisecond},
	}
	if diff := cmp.Diff(want, o.situation("beside", Low)); diff != "" {
		t.Errorf("situation (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(Situation{Name: "alone", Rate: Low}, (&observed{}).situation("alone", Low)); diff != "" {
		t.Errorf("situation in which nothing was seen (-want +got):\n%s", diff)
	}
}

func TestFiguresAreWritten(t *testing.T) {
	for want, got := range map[string]string{
		"12.3 ms": Milliseconds(12_345 * time.Microsecond), "66 %": Percent(0.655), "2.50x": Times(5, 2), "-": Times(5, 0),
	} {
		if got != want {
			t.Errorf("got %q; want %q", got, want)
		}
	}
}
