package freshness

import (
	"testing"
	"time"
)

var (
	now = time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	// farAhead and longGone are more than the 292 years away that a Duration holds.
	farAhead = time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC)
	longGone = time.Date(2, 1, 1, 0, 0, 0, 0, time.UTC)
)

func TestDistance(t *testing.T) {
	tests := map[string]struct {
		at                       time.Time
		wantDistance, wantPhrase string
		wantSeconds              int64
	}{
		"now":                            {at: now, wantDistance: "0s", wantPhrase: "0s ago"},
		"a minute ago":                   {at: now.Add(-time.Minute), wantDistance: "1m0s", wantPhrase: "1m0s ago", wantSeconds: 60},
		"rounded":                        {at: now.Add(-1600 * time.Millisecond), wantDistance: "2s", wantPhrase: "2s ago", wantSeconds: 1},
		"clocks differ by a second":      {at: now.Add(time.Second), wantDistance: "1s", wantPhrase: "0s ago", wantSeconds: -1},
		"an hour ahead":                  {at: now.Add(time.Hour), wantDistance: "1h0m0s", wantPhrase: "at a time 1h0m0s ahead of the clock", wantSeconds: -3600},
		"the year 9999":                  {at: farAhead, wantDistance: "7979y", wantPhrase: "at a time 7979y ahead of the clock", wantSeconds: now.Unix() - farAhead.Unix()},
		"the year 2":                     {at: longGone, wantDistance: "2025y", wantPhrase: "2025y ago", wantSeconds: now.Unix() - longGone.Unix()},
		"the last that a Duration holds": {at: now.Add(1<<63 - 1), wantDistance: "292y", wantPhrase: "at a time 292y ahead of the clock", wantSeconds: -longest},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := Distance(now, tc.at, time.Second); got != tc.wantDistance {
				t.Errorf("Distance = %q, want %q", got, tc.wantDistance)
			}
			if got := Distance(tc.at, now, time.Second); got != tc.wantDistance {
				t.Errorf("Distance the other way = %q, want %q", got, tc.wantDistance)
			}
			if got := Ago(now, tc.at); got != tc.wantPhrase {
				t.Errorf("Ago = %q, want %q", got, tc.wantPhrase)
			}
			if got := Seconds(now, tc.at); got != tc.wantSeconds {
				t.Errorf("Seconds = %d, want %d", got, tc.wantSeconds)
			}
		})
	}
}
