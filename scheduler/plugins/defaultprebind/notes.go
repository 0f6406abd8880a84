package defaultprebind

import (
	"maps"
	"strconv"
	"sync"
	"time"

	fwk "k8s.io/kube-scheduler/framework"
)

const stateKey fwk.StateKey = "koordinator.sh/" + Name

// notes are the annotations and labels that plugins want on a pod. It is safe for concurrent use.
type notes struct {
	mutex       sync.Mutex
	annotations map[string]string
	// stamps are annotations whose value is the time of the binding.
	stamps map[string]bool
	labels map[string]string
}

func newNotes() *notes {
	return &notes{annotations: map[string]string{}, stamps: map[string]bool{}, labels: map[string]string{}}
}

// Clone implements StateData. The copy is independent.
func (n *notes) Clone() fwk.StateData {
	n.mutex.Lock()
	defer n.mutex.Unlock()
	return &notes{annotations: maps.Clone(n.annotations), stamps: maps.Clone(n.stamps), labels: maps.Clone(n.labels)}
}

// read returns nil when nothing was asked for.
func read(state fwk.CycleState) *notes {
	data, err := state.Read(stateKey)
	if err != nil {
		return nil
	}
	found, _ := data.(*notes)
	return found
}

// edit changes what is asked for.
func edit(state fwk.CycleState, change func(*notes)) {
	found := read(state)
	if found == nil {
		found = newNotes()
		state.Write(stateKey, found)
	}
	found.mutex.Lock()
	defer found.mutex.Unlock()
	change(found)
}

// Annotate asks for an annotation on the pod of the cycle; with an empty value, for the annotation to say nothing. Plugins
// call it in Reserve; what is asked for twice is written as asked last.
func Annotate(state fwk.CycleState, key, value string) {
	edit(state, func(n *notes) {
		n.annotations[key] = value
		delete(n.stamps, key)
	})
}

// Stamp asks for an annotation with the time at which it is written, in nanoseconds since 1970.
func Stamp(state fwk.CycleState, key string) {
	edit(state, func(n *notes) {
		n.stamps[key] = true
		delete(n.annotations, key)
	})
}

// Label asks for a label on the pod of the cycle. It costs an extra request before the binding, because not every API server
// takes labels from a Binding.
func Label(state fwk.CycleState, key, value string) {
	edit(state, func(n *notes) { n.labels[key] = value })
}

// Annotations returns a copy of what was asked for in the cycle, apart from stamps; nil when nothing was.
func Annotations(state fwk.CycleState) map[string]string {
	found := read(state)
	if found == nil {
		return nil
	}
	found.mutex.Lock()
	defer found.mutex.Unlock()
	return maps.Clone(found.annotations)
}

// annotationsAt is Annotations with the stamps of a moment.
func annotationsAt(state fwk.CycleState, now time.Time) map[string]string {
	found := read(state)
	if found == nil {
		return nil
	}
	found.mutex.Lock()
	defer found.mutex.Unlock()
	annotations := maps.Clone(found.annotations)
	for key := range found.stamps {
		annotations[key] = strconv.FormatInt(now.UnixNano(), 10)
	}
	return annotations
}

// labels returns a copy of the labels that were asked for.
func labels(state fwk.CycleState) map[string]string {
	found := read(state)
	if found == nil {
		return nil
	}
	found.mutex.Lock()
	defer found.mutex.Unlock()
	return maps.Clone(found.labels)
}
