package device

import (
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
)

// Trace records, for each type that a request is for, every device of the node. The zero value is ready for use; a Trace
// serves one call at a time.
type Trace struct {
	Types []TypeTrace
	input Input
}

// TypeTrace is the part of a Trace about one type.
type TypeTrace struct {
	Demand *Demand
	// Needed devices, and those that could serve each by itself.
	Needed, Eligible int
	Devices          []DeviceTrace
}

// DeviceTrace is one device with what it had left.
type DeviceTrace struct {
	Type  schedulingv1alpha1.DeviceType
	Minor int32
	// Total, Used and Free; a device that is not healthy has nothing free.
	Total, Used, Free Amount
	// Holders are the pods that hold the device or a share of it, as NAMESPACE/NAME.
	Holders []string

	zone      int32
	excluded  exclusion
	lacking   dimension
	functions int
}

// Serves is true when the device could serve the demand by itself.
func (d *DeviceTrace) Serves() bool { return d.excluded == eligible }

func (t *Trace) begin(in *Input) {
	if t != nil {
		t.Types, t.input = t.Types[:0], *in
	}
}

func (t *Trace) device(l *Ledger, demand *Demand, position int, why exclusion, lacking dimension) {
	if len(t.Types) == 0 || t.Types[len(t.Types)-1].Demand != demand {
		t.Types = append(t.Types, TypeTrace{Demand: demand})
	}
	of := &t.Types[len(t.Types)-1]
	k := demand.kind
	device := &l.node.devices[k][position]
	of.Devices = append(of.Devices, DeviceTrace{
		Type: demand.Type, Minor: device.minor, Total: device.total, Used: l.used[k][position], Free: l.free[k][position],
		Holders: l.holders[k][position], zone: device.numa, excluded: why, lacking: lacking, functions: len(device.functions),
	})
	if why == eligible {
		of.Eligible++
	}
}

func (t *Trace) needs(count int) {
	if t != nil {
		t.Types[len(t.Types)-1].Needed = count
	}
}

// of returns the part about a type, nil when the decision did not come to it.
func (t *Trace) of(name schedulingv1alpha1.DeviceType) *TypeTrace {
	for i := range t.Types {
		if t.Types[i].Demand.Type == name {
			return &t.Types[i]
		}
	}
	return nil
}

// last returns the part that the decision ended with, nil when it came to none.
func (t *Trace) last() *TypeTrace {
	if len(t.Types) == 0 {
		return nil
	}
	return &t.Types[len(t.Types)-1]
}
