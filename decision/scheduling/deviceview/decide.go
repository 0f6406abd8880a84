package deviceview

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/extension"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	"koordinator.sh/koord/decision/scheduling/device"
)

// Overview says what the devices of a node offer, who holds them and what is free.
func Overview(in Input) diagnosticsv1alpha1.DeviceOverview {
	v := newView(in)
	out := diagnosticsv1alpha1.DeviceOverview{
		ObjectMeta: metav1.ObjectMeta{Name: in.Object.Name, Labels: in.Object.Labels}, Types: []diagnosticsv1alpha1.DeviceTypeOverview{},
		Problems: v.ledger.Node().Problems(), Findings: v.findings(),
	}
	for _, name := range v.types() {
		out.Types = append(out.Types, v.typeOverview(name))
	}
	partitions, honored := v.ledger.Partitions()
	out.HonorsPartitions = honored
	for _, p := range partitions {
		row := diagnosticsv1alpha1.DevicePartition{Minors: p.Minors, Score: int32(p.Score)}
		if !in.Unseen {
			row.Idle = new(int32(p.Idle))
		}
		out.Partitions = append(out.Partitions, row)
	}
	return out
}

// view is one call of Overview.
type view struct {
	Input
	held    []device.Held
	ledger  *device.Ledger
	entries []device.Entry
}

func newView(in Input) *view {
	if in.Policy == nil {
		in.Policy = device.NewPolicy(device.DefaultArgs())
	}
	v := &view{Input: in, held: holders(&in)}
	v.ledger = device.NewLedger(device.DecodeNode(in.Object), in.Labels, v.held)
	v.entries = v.ledger.Inventory(v.held)
	return v
}

// types that the node has or that something on it holds: those that are allocated, then the others in the order of the Device.
func (v *view) types() []schedulingv1alpha1.DeviceType {
	present := map[schedulingv1alpha1.DeviceType]bool{}
	for i := range v.entries {
		present[v.entries[i].Type] = true
	}
	for _, orphan := range v.ledger.Orphans() {
		present[orphan.Type] = true
	}
	var out []schedulingv1alpha1.DeviceType
	for _, name := range device.Types() {
		if present[name] {
			out = append(out, name)
		}
	}
	for i := range v.Object.Spec.Devices {
		if name := v.Object.Spec.Devices[i].Type; !present[name] && !device.Allocatable(name) {
			present[name] = true
			out = append(out, name)
		}
	}
	return out
}

func (v *view) typeOverview(name schedulingv1alpha1.DeviceType) diagnosticsv1alpha1.DeviceTypeOverview {
	out := diagnosticsv1alpha1.DeviceTypeOverview{Type: string(name)}
	if name == schedulingv1alpha1.GPU {
		out.Model = v.model()
	}
	if !device.Allocatable(name) {
		v.unmanaged(name, &out)
		return out
	}
	free, idle, holders := int64(0), int32(0), map[string]bool{}
	for i := range v.entries {
		e := &v.entries[i]
		if e.Type != name {
			continue
		}
		minor := v.minor(e)
		out.Devices, out.Minors = out.Devices+1, append(out.Minors, minor)
		for _, h := range minor.Holders {
			holders[h.Kind+" "+h.Namespace+"/"+h.Name] = true
		}
		if !e.Healthy {
			continue
		}
		out.Healthy, free = out.Healthy+1, free+e.FreePercent()
		out.Resources = added(out.Resources, minor.Resources)
		if e.Idle {
			idle++
		}
	}
	out.Holders = int32(len(holders))
	if !v.Unseen {
		devices, percent := v.ledger.Largest(name, v.Policy)
		out.FreePercent, out.IdleDevices, out.LargestDevices, out.LargestPercent = &free, &idle, new(int32(devices)), &percent
	}
	out.State, out.Reason = v.stateOf(name, &out)
	return out
}

// model of the GPUs, as the labels of the node or of the Device name it.
func (v *view) model() string {
	for _, labels := range []map[string]string{v.Labels, v.Object.Labels} {
		if model := labels[extension.LabelGPUModel]; model != "" {
			return model
		}
	}
	return ""
}

// added adds resources to sums, in the order in which they come. What is free of one is known of all, or of none.
func added(sums, resources []diagnosticsv1alpha1.DeviceResource) []diagnosticsv1alpha1.DeviceResource {
	for _, r := range resources {
		at := slices.IndexFunc(sums, func(sum diagnosticsv1alpha1.DeviceResource) bool { return sum.Resource == r.Resource })
		if at < 0 {
			sums = append(sums, r)
			continue
		}
		sum := &sums[at]
		sum.Total, sum.Held = sum.Total+r.Total, sum.Held+r.Held
		if sum.Free != nil && r.Free != nil {
			sum.Free = new(*sum.Free + *r.Free)
		}
	}
	return sums
}
