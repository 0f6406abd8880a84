package picture

import (
	"io"
	"reflect"
	"slices"
	"time"

	"github.com/charmbracelet/x/vt"

	"koordinator.sh/koord/build/recording/cast"
)

const (
	// mostFrames bounds the size of a picture.
	mostFrames = 25
	// shortest is how long a screen is shown at least: those between are of output that arrives in pieces.
	shortest = 80 * time.Millisecond
	// lastFor is how long the last screen stays before the recording starts over.
	lastFor = 5 * time.Second
)

// frame is a screen, and when it appears.
type frame struct {
	at     time.Duration
	screen screen
}

// frames are the screens of a recording that stay for some time, in order; where there are too many, those that are shown longest, and
// the last in any case.
func frames(r cast.Recording) []frame {
	out := apart(r)
	for len(out) > mostFrames {
		briefest := 0
		for i := range len(out) - 1 {
			if out[i+1].at-out[i].at < out[briefest+1].at-out[briefest].at {
				briefest = i
			}
		}
		out = slices.Delete(out, briefest, briefest+1)
	}
	return out
}

// apart are the screens that stay for some time. The last is always one of them.
func apart(r cast.Recording) []frame {
	terminal := vt.NewEmulator(r.Columns, r.Rows)
	if replies, ok := terminal.InputPipe().(io.Closer); ok {
		replies.Close() // the program that asked is gone: nobody reads the answer, and writing one would block
	}
	var out []frame
	for i, event := range r.Events {
		_, _ = terminal.Write([]byte(event.Output)) // an open emulator never fails
		if i+1 < len(r.Events) && r.Events[i+1].At-event.At < shortest {
			continue
		}
		shown := take(terminal)
		if len(out) == 0 || !reflect.DeepEqual(out[len(out)-1].screen, shown) {
			out = append(out, frame{event.At, shown})
		}
	}
	return out
}
