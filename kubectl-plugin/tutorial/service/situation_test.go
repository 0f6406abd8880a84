package service

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"koordinator.sh/koord/sandbox/workload"
)

func TestSituationsAreComparedWithTheServiceAlone(t *testing.T) {
	of := func(name string, rate float64, p99 time.Duration, used, progress float64) Situation {
		return Situation{Name: name, Rate: rate, Summary: workload.Summary{P50: time.Millisecond, P99: p99}, Used: used, Progress: progress}
	}
	got := Table("TASKS/MIN", 60,
		of("alone", Low, 10*time.Millisecond, 0.2, 0), of("alone", High, 20*time.Millisecond, 0.5, 0),
		of("beside", Low, 12*time.Millisecond, 0.6, 0.5), of("beside", High, 20*time.Millisecond, 0.75, 0.1), of("at another rate", 70, 20*time.Millisecond, 0.75, 0.1))
	want := [][]string{
		{"SITUATION", "REQUESTS/S", "P50", "P99", "TO ALONE", "CPU USED", "TO ALONE", "TASKS/MIN"},
		{"alone", "50", "1.0 ms", "10.0 ms", "1.00x", "20 %", "1.00x", "-"},
		{"alone", "150", "1.0 ms", "20.0 ms", "1.00x", "50 %", "1.00x", "-"},
		{"beside", "50", "1.0 ms", "12.0 ms", "1.20x", "60 %", "3.00x", "30.0"},
		{"beside", "150", "1.0 ms", "20.0 ms", "1.00x", "75 %", "1.50x", "6.0"},
		{"at another rate", "70", "1.0 ms", "20.0 ms", "-", "75 %", "-", "6.0"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("table (-want +got):\n%s", diff)
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
