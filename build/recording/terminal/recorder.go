package terminal

import (
	"slices"
	"time"
	"unicode/utf8"

	"koordinator.sh/koord/build/recording/cast"
)

const (
	// longestWait is how long the recording shows that nothing happens yet, however long it took.
	longestWait = 700 * time.Millisecond
	// together is how close output belongs to one event.
	together = 5 * time.Millisecond
)

// recorder is the time of a recording: what was printed after a key comes as late as it did, but no later than longestWait.
type recorder struct {
	recording cast.Recording
	// now is the time of the last key, in the recording; began is when it was typed.
	now   time.Duration
	began time.Time
}

func (r *recorder) add(output string, at time.Time) {
	events := r.recording.Events
	when := r.now + min(at.Sub(r.began), longestWait).Round(time.Millisecond)
	if len(events) > 0 {
		last := &events[len(events)-1]
		if when-last.At < together {
			last.Output += output
			return
		}
	}
	r.recording.Events = append(events, cast.Event{At: when, Output: output})
}

// hold lets time pass in the recording, from the last output on.
func (r *recorder) hold(d time.Duration, at time.Time) {
	if events := r.recording.Events; len(events) > 0 {
		r.now = max(r.now, events[len(events)-1].At)
	}
	r.now, r.began = r.now+d, at
}

// wholeCharacters splits off the bytes of a last character that is not complete.
func wholeCharacters(b []byte) (whole, rest []byte) {
	for i := 1; i <= min(utf8.UTFMax, len(b)); i++ {
		if at := len(b) - i; utf8.RuneStart(b[at]) {
			if utf8.FullRune(b[at:]) {
				break
			}
			return b[:at], slices.Clone(b[at:])
		}
	}
	return b, nil
}
