package device

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"koordinator.sh/koord/api/finding"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
)

// LockTimeout is how long a node stays locked for a pod whose device plugin never removes the lock.
const LockTimeout = 5 * time.Minute

var (
	errManyDevices = errors.New("multiple gpu share is not supported on device side")
	errNoCore      = errors.New("gpu core resource is required")
)

// Lock says for which pod a vendor's device plugin is about to hand out devices of a node. Such a plugin is not told which
// pod it serves, so there must not be a second one.
type Lock struct {
	Since          time.Time
	Namespace, Pod string
}

// String is the lock as it is written on a node, to the second.
func (l Lock) String() string {
	return l.Since.Format(time.RFC3339) + "," + l.Namespace + "," + l.Pod
}

// ParseLock reads a lock.
func ParseLock(value string) (Lock, error) {
	parts := strings.Split(value, ",")
	if len(parts) != 3 {
		return Lock{}, fmt.Errorf("lock %q is not TIME,NAMESPACE,POD", value)
	}
	since, err := time.Parse(time.RFC3339, parts[0])
	if err != nil {
		return Lock{}, fmt.Errorf("lock %q: %w", value, err)
	}
	return Lock{Since: since, Namespace: parts[1], Pod: parts[2]}, nil
}

// Over is true when a lock has lasted for too long. So is one from a future that no clock that is merely wrong explains.
func (l Lock) Over(now time.Time) bool {
	return now.Sub(l.Since) > LockTimeout || l.Since.Sub(now) > LockTimeout
}

// LockKey is the annotation by which the node of a ledger is locked; empty where the device plugin needs none.
func (l *Ledger) LockKey() string { return adapters[l.labels.vendor].lockKey }

// LockChanged is true when some lock of a node was removed or replaced.
func LockChanged(before, after map[string]string) bool {
	for _, vendor := range adapters {
		if vendor.lockKey != "" && before[vendor.lockKey] != "" && before[vendor.lockKey] != after[vendor.lockKey] {
			return true
		}
	}
	return false
}

// DevicePlugin is what matters of the vendor's device plugin on a node.
type DevicePlugin struct {
	// Lock is the text of the lock in force, empty when there is none.
	Lock string
}

// unfit begins the refusal of what a device plugin cannot hand out.
const unfit = "node(s) device plugin cannot serve the request: "

// checkDevicePlugin refuses what the device plugin cannot hand out, or not now.
func (s *search) checkDevicePlugin(demand *Demand) *Refusal {
	plugin := s.in.DevicePlugin
	if plugin == nil {
		return nil
	}
	adapter, known := adapters[s.ledger.labels.vendor]
	if !known {
		return nil
	}
	each := demand.Each
	if each[memory] == 0 && each[ratio] > 0 {
		each[memory] = adapter.memoryUnit // how much a ratio comes to is known when a device is chosen
	}
	if err := adapter.check(demand.Count, each); err != nil {
		return &Refusal{Code: finding.DevicePluginUnfit, Reason: unfit + err.Error(), Type: schedulingv1alpha1.GPU}
	}
	if plugin.Lock != "" {
		return &refusals.locked
	}
	return nil
}

// lockMessage says who holds the node and until when at the latest.
func (t *Trace) lockMessage() string {
	text := t.input.DevicePlugin.Lock
	lock, err := ParseLock(text)
	if err != nil {
		return fmt.Sprintf("annotation %q of the node holds %q, which no scheduler of pods writes; remove it", t.input.Ledger.LockKey(), text)
	}
	return fmt.Sprintf("the device plugin of %s is to hand devices to pod %s/%s first; the node is locked for it until %s at the latest",
		t.input.Ledger.labels.vendor, lock.Namespace, lock.Pod, lock.Since.Add(LockTimeout).UTC().Format(time.RFC3339))
}
