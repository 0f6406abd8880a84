package defaultprebind

import (
	"maps"
	"sync"

	fwk "k8s.io/kube-scheduler/framework"
)

const stateKey fwk.StateKey = "koordinator.sh/" + Name

// notes are the annotations that plugins want on a pod. It is safe for concurrent use.
type notes struct {
	mutex       sync.Mutex
	annotations map[string]string
}

// Clone implements StateData. The copy is independent.
func (n *notes) Clone() fwk.StateData {
	n.mutex.Lock()
	defer n.mutex.Unlock()
	return &notes{annotations: maps.Clone(n.annotations)}
}

// Annotate asks for an annotation on the pod of the cycle. Plugins call it in Reserve; what is asked for twice is written
// as asked last.
func Annotate(state fwk.CycleState, key, value string) {
	data, err := state.Read(stateKey)
	found, ok := data.(*notes)
	if err != nil || !ok {
		found = &notes{annotations: map[string]string{}}
		state.Write(stateKey, found)
	}
	found.mutex.Lock()
	defer found.mutex.Unlock()
	found.annotations[key] = value
}

// Annotations returns a copy of what was asked for in the cycle, nil when nothing was.
func Annotations(state fwk.CycleState) map[string]string {
	data, err := state.Read(stateKey)
	found, ok := data.(*notes)
	if err != nil || !ok {
		return nil
	}
	found.mutex.Lock()
	defer found.mutex.Unlock()
	return maps.Clone(found.annotations)
}
