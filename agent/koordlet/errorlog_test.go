package koordlet

import (
	"errors"
	"testing"
	"time"
)

func TestTheLogIsNotFlooded(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	busy, gone := errors.New("busy"), errors.New("gone")
	tests := map[string]struct {
		// answers of an hour, one a second.
		answers func(second int) error
		want    int
	}{
		"nothing is wrong":             {func(int) error { return nil }, 0},
		"the same all the time":        {func(int) error { return busy }, 1},
		"now and then":                 {func(s int) error { return []error{busy, nil}[s%2] }, 60},
		"another one each time":        {func(s int) error { return []error{busy, gone}[s%2] }, 60},
		"another one after some time":  {func(s int) error { return []error{busy, gone}[s/1800] }, 2},
		"another one soon after":       {func(s int) error { return []error{busy, gone}[min(s/5, 1)] }, 2},
		"again after it was well once": {func(s int) error { return []error{busy, nil, busy}[s/1200] }, 2},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var c errorLog
			got := 0
			for second := range 3600 {
				if c.shouldLog(tc.answers(second), now.Add(time.Duration(second)*time.Second)) {
					got++
				}
			}
			if got < tc.want || got > tc.want+1 {
				t.Errorf("logged %d times within an hour, want %d", got, tc.want)
			}
		})
	}
}
