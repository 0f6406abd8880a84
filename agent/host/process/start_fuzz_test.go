package process

import (
	"fmt"
	"strings"
	"testing"
)

// FuzzStart: the time of start is found whatever a process is called, and of any content it is that or an error.
func FuzzStart(f *testing.F) {
	f.Add("12 (sleep) S 1 12 12 0 -1 4194304 96 0 0 0 0 0 0 0 20 0 1 0 345 2703360 216 18446744073709551615 0 0 0 0 0 0 0 0 0 0 0 0 17 1 0 0 0 0 0", "sleep", uint64(345))
	f.Add("12 (a) b) S", "a) b (", uint64(1))
	f.Add(")", "", uint64(0))
	f.Add("", "\n) S 1 2 3", ^uint64(0))
	f.Fuzz(func(t *testing.T, stat, name string, start uint64) {
		if found, err := StartOf(stat); err != nil && found != 0 {
			t.Errorf("%d beside %v", found, err)
		}
		shown := fmt.Sprintf("12 (%s) S 1%s %d 2703360 216", name, strings.Repeat(" 0", 17), start)
		if found, err := StartOf(shown); err != nil || found != start {
			t.Errorf("%q was started at %d, %v; want %d", shown, found, err, start)
		}
	})
}
