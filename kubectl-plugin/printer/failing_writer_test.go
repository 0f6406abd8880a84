package printer

import (
	"errors"
	"fmt"
	"maps"
	"testing"
)

var errClosed = errors.New("broken pipe")

// failingWriter takes so many writes and then fails, as a pipe does whose reader has gone.
type failingWriter struct{ left int }

func (w *failingWriter) Write(p []byte) (int, error) {
	if w.left == 0 {
		return 0, errClosed
	}
	w.left--
	return len(p), nil
}

// countingWriter counts writes.
type countingWriter struct{ writes int }

func (w *countingWriter) Write(p []byte) (int, error) {
	w.writes++
	return len(p), nil
}

// TestEveryViewReportsAnOutputThatFails: anyone who reads only the beginning, as head does, ends the command, wherever that is.
func TestEveryViewReportsAnOutputThatFails(t *testing.T) {
	all := views(t)
	maps.Copy(all, configViews())
	for name, show := range all {
		for _, width := range []int{0, 60} {
			t.Run(fmt.Sprintf("%s at %d", name, width), func(t *testing.T) {
				o := Options{Width: width, Now: fixtureNow}
				counted := &countingWriter{}
				if err := show(counted, o); err != nil {
					t.Fatal(err)
				}
				if counted.writes == 0 {
					t.Fatal("nothing is printed")
				}
				for n := range counted.writes {
					if err := show(&failingWriter{left: n}, o); !errors.Is(err, errClosed) {
						t.Errorf("write %d of %d fails, and the view returns %v", n+1, counted.writes, err)
					}
				}
			})
		}
	}
}
