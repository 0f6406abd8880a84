package simulation

import (
	"bytes"
	"fmt"
	"io"
	"sync"
)

// watch is one watch of one client: events wait in it until they are delivered.
type watch struct {
	client string
	kind   kind
	chosen selector
	// prompt is true for watches whose events are not held up.
	prompt bool

	mutex   sync.Mutex
	waiting [][]byte
	// arrived is what was delivered and not yet read.
	arrived chan []byte
	rest    []byte
	ended   chan struct{}
	end     func()
}

// capacity of what is delivered and not read. Clients read at once, so it is never used up.
const capacity = 1 << 9

func newWatch(client string, k kind, chosen selector, prompt bool) *watch {
	w := &watch{client: client, kind: k, chosen: chosen, prompt: prompt, arrived: make(chan []byte, capacity), ended: make(chan struct{})}
	w.end = sync.OnceFunc(func() { close(w.ended) })
	return w
}

// changed sends a change to a watch, as far as it concerns objects that it has chosen.
func (w *watch) changed(before, after *object, gone bool) {
	was, is := w.chosen.matches(before), w.chosen.matches(after) && !gone
	switch {
	case is && was:
		w.add("MODIFIED", after.encoded)
	case is:
		w.add("ADDED", after.encoded)
	case was:
		w.add("DELETED", after.encoded)
	}
}

func (w *watch) add(event string, encoded []byte) {
	frame := append(fmt.Appendf(nil, `{"type":%q,"object":`, event), encoded...)
	frame = append(frame, '}', '\n')
	w.mutex.Lock()
	w.waiting = append(w.waiting, frame)
	w.mutex.Unlock()
	if w.prompt {
		w.deliver(1)
	}
}

// held counts the events that wait.
func (w *watch) held() int {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	return len(w.waiting)
}

// deliver sends the oldest events that wait, at most count.
func (w *watch) deliver(count int) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	count = min(count, len(w.waiting))
	for _, frame := range w.waiting[:count] {
		select {
		case w.arrived <- frame:
		default:
			panic("nobody reads a watch")
		}
	}
	w.waiting = w.waiting[count:]
}

// Read implements Reader for the client.
func (w *watch) Read(into []byte) (int, error) {
	if len(w.rest) == 0 {
		select {
		case w.rest = <-w.arrived:
		case <-w.ended:
			return 0, io.EOF
		}
	}
	n := copy(into, w.rest)
	w.rest = w.rest[n:]
	return n, nil
}

// Close implements Closer for the client.
func (w *watch) Close() error {
	w.end()
	return nil
}

func (w *watch) over() bool {
	select {
	case <-w.ended:
		return true
	default:
		return false
	}
}

var _ io.ReadCloser = &watch{}

func body(content []byte) io.ReadCloser { return io.NopCloser(bytes.NewReader(content)) }
