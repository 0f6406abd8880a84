package deviceshare

import (
	"sync"

	fwk "k8s.io/kube-scheduler/framework"

	"koordinator.sh/koord/decision/scheduling/device"
)

// PreferredDevices says which devices of a node the pod should get, where they suffice, such as those that its reservation
// holds; false for none. It is called in Reserve, and must be safe for concurrent use.
type PreferredDevices func(state fwk.CycleState, node string) (device.Allocation, bool)

// Hooks is where other plugins of a profile find this one, whatever order they are made in: each registers under the
// handle that its factory was given. It is safe for concurrent use.
type Hooks struct {
	mutex  sync.RWMutex
	prefer map[fwk.Handle][]PreferredDevices
}

// NewHooks returns Hooks without anything registered. All plugins of a scheduler share one.
func NewHooks() *Hooks { return &Hooks{prefer: map[fwk.Handle][]PreferredDevices{}} }

// Prefer registers a source of devices to be taken.
func (h *Hooks) Prefer(handle fwk.Handle, prefer PreferredDevices) {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	h.prefer[handle] = append(h.prefer[handle][:len(h.prefer[handle]):len(h.prefer[handle])], prefer)
}

// preferred is what the first source names, nil when none does.
func (h *Hooks) preferred(handle fwk.Handle, state fwk.CycleState, node string) *device.Allocation {
	if h == nil {
		return nil
	}
	h.mutex.RLock()
	sources := h.prefer[handle]
	h.mutex.RUnlock()
	for _, source := range sources {
		if devices, found := source(state, node); found {
			return &devices
		}
	}
	return nil
}
