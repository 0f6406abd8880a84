package deviceview

import (
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
		return v.unmanaged(name, out)
	}
	free, idle := int64(0), int32(0)
	sums, names := newTotals(v.Unseen), map[string]bool{}
	for i := range v.entries {
		e := &v.entries[i]
		if e.Type != name {
			continue
		}
		out.Devices++
		minor := v.minor(e)
		out.Minors = append(out.Minors, minor)
		for _, holder := range minor.Holders {
			names[holder.Kind+" "+holder.Namespace+"/"+holder.Name] = true
		}
		if !e.Healthy {
			continue
		}
		out.Healthy++
		sums.add(minor.Resources)
		free += e.FreePercent()
		if e.Idle {
			idle++
		}
	}
	out.Holders, out.Resources = int32(len(names)), sums.list
	if !v.Unseen {
		devices, percent := v.ledger.Largest(name, v.Policy)
		out.FreePercent, out.IdleDevices = &free, &idle
		out.LargestDevices, out.LargestPercent = new(int32(devices)), &percent
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

// totals adds up resources, in the order in which they come.
type totals struct {
	list   []diagnosticsv1alpha1.DeviceResource
	unseen bool
}

func newTotals(unseen bool) *totals { return &totals{unseen: unseen} }

func (t *totals) add(resources []diagnosticsv1alpha1.DeviceResource) {
	for _, r := range resources {
		at := -1
		for i := range t.list {
			if t.list[i].Resource == r.Resource {
				at = i
			}
		}
		if at < 0 {
			at = len(t.list)
			t.list = append(t.list, diagnosticsv1alpha1.DeviceResource{Resource: r.Resource, Unit: r.Unit})
		}
		sum := &t.list[at]
		sum.Total, sum.Held = sum.Total+r.Total, sum.Held+r.Held
		if !t.unseen && r.Free != nil {
			before := int64(0)
			if sum.Free != nil {
				before = *sum.Free
			}
			sum.Free = new(before + *r.Free)
		}
	}
}
