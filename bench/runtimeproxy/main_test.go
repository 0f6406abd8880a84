package main

import (
	"strings"
	"testing"
	"time"
)

func TestTheVerdictIsByBothBounds(t *testing.T) {
	for name, test := range map[string]struct {
		added
		want       string
		wantMissed bool
	}{
		"nothing was measured without hooks": {},
		"both are kept":                      {added: added{true, 40 * time.Microsecond, 400 * time.Microsecond}, want: "p99: 400µs, 1.00x of at most 400µs: reached"},
		"the median is too much":             {added: added{true, 160 * time.Microsecond, 200 * time.Microsecond}, want: "p50: 160µs, 2.00x of at most 80µs: MISSED", wantMissed: true},
		"the slowest are too slow":           {added: added{true, 40 * time.Microsecond, time.Millisecond}, want: "p99: 1ms, 2.50x of at most 400µs: MISSED", wantMissed: true},
	} {
		t.Run(name, func(t *testing.T) {
			var out strings.Builder
			if err := test.verdict(&out); !strings.Contains(out.String(), test.want) || (err != nil) != test.wantMissed {
				t.Errorf("error %v, want %q in:\n%s", err, test.want, out.String())
			}
		})
	}
}
