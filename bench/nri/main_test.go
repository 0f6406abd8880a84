package main

import (
	"strings"
	"testing"
	"time"
)

// TestPodsStartByBothRuntimes: a few, in the model of cgroups; how long that takes is not looked at.
func TestPodsStartByBothRuntimes(t *testing.T) {
	const starts = 3
	with, without, err := measure(t.Context(), options{starts: starts, pods: 4, rate: 1000, stateDirectory: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	for name, timings := range map[string]*timings{"with": with, "without": without} {
		for call, times := range map[string][]time.Duration{"run": timings.run, "create": timings.create, "start": timings.start} {
			if len(times) != starts {
				t.Errorf("%s the plugin, %s was timed %d times, want %d", name, call, len(times), starts)
			}
		}
	}
}

func TestTheTargetIsForWhatIsAdded(t *testing.T) {
	of := func(run, create, start time.Duration) *timings {
		return &timings{run: []time.Duration{run}, create: []time.Duration{create}, start: []time.Duration{start}}
	}
	for name, test := range map[string]struct {
		with, without *timings
		want          string
		wantMissed    bool
	}{
		"a sandbox does not count":  {with: of(time.Second, 500*time.Microsecond, 500*time.Microsecond), without: of(0, 0, 0), want: "1ms, 0.50x of at most 2ms: reached"},
		"without counts for itself": {with: of(0, 2*time.Millisecond, time.Millisecond), without: of(0, time.Millisecond, time.Millisecond), want: "1ms, 0.50x of at most 2ms: reached"},
		"too much":                  {with: of(0, time.Millisecond, time.Millisecond), without: of(0, 0, 0), want: "2ms, 1.00x of at most 2ms: MISSED", wantMissed: true},
	} {
		t.Run(name, func(t *testing.T) {
			var out strings.Builder
			err := report(&out, test.with, test.without)
			if !strings.Contains(out.String(), test.want) || (err != nil) != test.wantMissed {
				t.Errorf("error %v, want %q in:\n%s", err, test.want, out.String())
			}
		})
	}
}
