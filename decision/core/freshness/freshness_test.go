package freshness

import (
	"testing"
	"time"
)

func TestAssess(t *testing.T) {
	tests := map[string]struct {
		observation Observation
		want        string
	}{
		"just now":                     {Observation{At: now, Period: time.Second}, ""},
		"two periods ago":              {Observation{At: now.Add(-2 * time.Second), Period: time.Second}, ""},
		"longer ago than two periods":  {Observation{At: now.Add(-2001 * time.Millisecond), Period: time.Second}, "the measurement is 2s old, more than two intervals of 1s"},
		"never":                        {Observation{Period: time.Second}, "nothing was measured"},
		"never, and no period is set":  {Observation{}, "nothing was measured"},
		"a little ahead of this clock": {Observation{At: now.Add(time.Second), Period: time.Second}, ""},
		"the clock was set back":       {Observation{At: now.Add(time.Hour), Period: time.Second}, "the measurement is 1h0m0s ahead of the clock"},
		"the year 9999":                {Observation{At: farAhead, Period: time.Second}, "the measurement is 7979y ahead of the clock"},
		"the year 2":                   {Observation{At: longGone, Period: time.Second}, "the measurement is 2025y old, more than two intervals of 1s"},
		"any age is good enough":       {Observation{At: now.Add(-time.Hour)}, ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := tc.observation.Assess(now); got != tc.want {
				t.Errorf("%q, want %q", got, tc.want)
			}
		})
	}
}
