package deviceview

import (
	"fmt"
	"slices"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
)

// states in the order of their gravity.
var states = []diagnosticsv1alpha1.DeviceState{
	diagnosticsv1alpha1.DeviceOverheld, diagnosticsv1alpha1.DeviceStray, diagnosticsv1alpha1.DeviceUnhealthy, diagnosticsv1alpha1.DeviceUnknown,
	diagnosticsv1alpha1.DeviceFull, diagnosticsv1alpha1.DeviceUsed, diagnosticsv1alpha1.DeviceIdle, diagnosticsv1alpha1.DeviceUnmanaged,
}

// Rank orders states by their gravity, 0 for the gravest. One that is not known comes last.
func Rank(state diagnosticsv1alpha1.DeviceState) int {
	if at := slices.Index(states, state); at >= 0 {
		return at
	}
	return len(states)
}

// IsProblem is true for a state that somebody should look at.
func IsProblem(state diagnosticsv1alpha1.DeviceState) bool {
	return Rank(state) <= Rank(diagnosticsv1alpha1.DeviceUnknown)
}

// Gravest is the gravest state of the types of a node; Idle for a node without devices.
func Gravest(o *diagnosticsv1alpha1.DeviceOverview) diagnosticsv1alpha1.DeviceState {
	state := diagnosticsv1alpha1.DeviceIdle
	for i := range o.Types {
		if Rank(o.Types[i].State) < Rank(state) {
			state = o.Types[i].State
		}
	}
	return state
}

// Largest is the largest request that one more pod gets of a type, where 100 is one device; nil where that is not known.
func Largest(t *diagnosticsv1alpha1.DeviceTypeOverview) *int64 {
	if t.LargestDevices == nil || t.LargestPercent == nil {
		return nil
	}
	return new(100*int64(*t.LargestDevices) + *t.LargestPercent)
}

// stateOf is the state of a type, and why it is a problem.
func (v *view) stateOf(name schedulingv1alpha1.DeviceType, o *diagnosticsv1alpha1.DeviceTypeOverview) (diagnosticsv1alpha1.DeviceState, string) {
	for i := range v.entries {
		if e := &v.entries[i]; e.Type == name && e.HeldPercent() > 100 {
			return diagnosticsv1alpha1.DeviceOverheld, fmt.Sprintf("%d%% of %s %d is held, by %s", e.HeldPercent(), name, e.Minor, holdersOf(e))
		}
	}
	for _, orphan := range v.ledger.Orphans() {
		if orphan.Type == name {
			return diagnosticsv1alpha1.DeviceStray, fmt.Sprintf("%s %d is held: %s", name, orphan.Minor, orphan.Reason)
		}
	}
	if broken := o.Devices - o.Healthy; broken > 0 {
		return diagnosticsv1alpha1.DeviceUnhealthy, fmt.Sprintf("%d of %d devices not healthy", broken, o.Devices)
	}
	switch {
	case v.Unseen:
		return diagnosticsv1alpha1.DeviceUnknown, "what pods hold is not known"
	case *o.FreePercent == 0:
		return diagnosticsv1alpha1.DeviceFull, ""
	case o.Holders > 0:
		return diagnosticsv1alpha1.DeviceUsed, ""
	}
	return diagnosticsv1alpha1.DeviceIdle, ""
}
