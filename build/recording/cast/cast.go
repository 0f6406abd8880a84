// Package cast is what a terminal printed over time, in the form of asciinema v2 (`asciinema play FILE`).
package cast

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"time"
)

// Recording is what a program printed on a terminal of a fixed size.
type Recording struct {
	Title string
	// Columns and Rows are the size of the terminal.
	Columns, Rows int
	Events        []Event
}

// Event is output that was printed at once.
type Event struct {
	// At is the time since the start.
	At     time.Duration
	Output string
}

// header is the first line of a file. It names neither the time nor the environment, so that a file depends on the session alone.
type header struct {
	Version int    `json:"version"`
	Width   int    `json:"width"`
	Height  int    `json:"height"`
	Title   string `json:"title,omitempty"`
}

// output is the code of events that are output; files of asciinema may have others.
const output = "o"

// Encode returns the file of a recording: a line for the header and one for each event. Control characters are escaped, as JSON has it.
func (r Recording) Encode() ([]byte, error) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(header{Version: 2, Width: r.Columns, Height: r.Rows, Title: r.Title}); err != nil {
		return nil, fmt.Errorf("encode the header of recording %q: %w", r.Title, err)
	}
	for i, event := range r.Events {
		if i > 0 && event.At < r.Events[i-1].At {
			return nil, fmt.Errorf("recording %q: event %d is at %s, before the one at %s that precedes it", r.Title, i, event.At, r.Events[i-1].At)
		}
		seconds := math.Round(event.At.Seconds()*1000) / 1000
		if err := encoder.Encode([]any{seconds, output, event.Output}); err != nil {
			return nil, fmt.Errorf("encode event %d of recording %q: %w", i, r.Title, err)
		}
	}
	return b.Bytes(), nil
}

// longestLine bounds what is read as one event: a screen is far shorter.
const longestLine = 16 << 20

// Decode reads a file of asciinema v2. Events that are not output are left out.
func Decode(file io.Reader) (Recording, error) {
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, longestLine)
	if !lines.Scan() {
		return Recording{}, errors.Join(errors.New("the recording is empty"), lines.Err())
	}
	var h header
	if err := json.Unmarshal(lines.Bytes(), &h); err != nil {
		return Recording{}, fmt.Errorf("parse the header of a recording: %w", err)
	}
	if h.Version != 2 {
		return Recording{}, fmt.Errorf("version %d of a recording is not supported, only 2", h.Version)
	}
	r := Recording{Title: h.Title, Columns: h.Width, Rows: h.Height}
	for lines.Scan() {
		event, printed, err := decodeEvent(lines.Bytes())
		if err != nil {
			return Recording{}, fmt.Errorf("parse event %d of recording %q: %w", len(r.Events), h.Title, err)
		}
		if printed {
			r.Events = append(r.Events, event)
		}
	}
	return r, lines.Err()
}

func decodeEvent(line []byte) (event Event, printed bool, err error) {
	var fields [3]json.RawMessage
	var seconds float64
	var code string
	if err := json.Unmarshal(line, &fields); err != nil {
		return event, false, err
	}
	err = errors.Join(json.Unmarshal(fields[0], &seconds), json.Unmarshal(fields[1], &code), json.Unmarshal(fields[2], &event.Output))
	event.At = time.Duration(math.Round(seconds*1000)) * time.Millisecond
	return event, code == output, err
}
