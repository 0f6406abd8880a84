package device

import (
	corev1 "k8s.io/api/core/v1"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
)

// Entry is one device of a ledger: what it offers, what pods hold of it and what is free.
type Entry struct {
	Type  schedulingv1alpha1.DeviceType
	Minor int32
	// ID of the device, empty when it has none.
	ID      string
	Healthy bool
	// Idle is true for a healthy device that no pod holds.
	Idle bool
	// Measures of the device, in a fixed order of the resources.
	Measures []Measure
	// Functions counts the virtual functions, and FunctionsHeld those that pods hold.
	Functions, FunctionsHeld int
	// Shares are what pods hold, in the order in which the ledger was given them.
	Shares []Share
	// Near are the network cards near a GPU, or the GPUs near a network card, by minor.
	Near []Peer
}

// Measure is one resource of a device, in its unit.
type Measure struct {
	Resource corev1.ResourceName
	Unit     diagnosticsv1alpha1.Unit
	// Total that the device offers, Held by pods and Free for others. A device that is not healthy has nothing free.
	Total, Held, Free int64
}

// Share is what one pod holds of a device.
type Share struct {
	Pod *corev1.Pod
	// Percent of the device: that of the resource of which the pod holds most.
	Percent int64
	// Held by resource, in the unit of the measure of that name.
	Held []Measure
}

// Inventory lists the devices of the ledger in the order of their types and minors. held is what the ledger was made from.
func (l *Ledger) Inventory(held []Held) []Entry {
	var all []Entry
	for k := range kinds {
		first := len(all)
		for i := range l.node.devices[k] {
			all = append(all, l.entry(k, i))
		}
		for i := range held {
			l.share(all[first:], k, &held[i])
		}
	}
	return all
}

func (l *Ledger) entry(k kind, position int) Entry {
	device := &l.node.devices[k][position]
	return Entry{
		Type: typeNames[k], Minor: device.minor, ID: device.uuid, Healthy: device.healthy,
		Idle: l.idle[k].has(position), Measures: measures(&device.total, &l.used[k][position], &l.free[k][position]),
		Functions: len(device.functions), FunctionsHeld: len(l.functions[k][position]), Near: l.node.near(k, position),
	}
}

// share adds what a pod holds to the devices of a type.
func (l *Ledger) share(entries []Entry, k kind, held *Held) {
	for i := range held.Allocation.Items {
		item := &held.Allocation.Items[i]
		if item.kind != k {
			continue
		}
		position, _ := l.node.find(k, item.Minor, item.ID)
		if position < 0 {
			continue
		}
		total := &l.node.devices[k][position].total
		amount, none := item.Amount.completed(total), Amount{}
		s := Share{Pod: held.Pod, Held: measures(&none, &amount, &none)}
		for d := range amount {
			if total[d] > 0 {
				s.Percent = max(s.Percent, amount[d]*100/total[d])
			}
		}
		entries[position].Shares = append(entries[position].Shares, s)
	}
}

// unit says what a dimension is measured in.
func (d dimension) unit() diagnosticsv1alpha1.Unit {
	switch d {
	case memory:
		return diagnosticsv1alpha1.Bytes
	case npuCore, npuCPU:
		return diagnosticsv1alpha1.Count
	}
	return diagnosticsv1alpha1.Percent
}

// measures are the dimensions that are not zero everywhere.
func measures(total, held, free *Amount) []Measure {
	var out []Measure
	for d := range dimensions {
		if total[d] > 0 || held[d] > 0 {
			out = append(out, Measure{Resource: dimensionNames[d], Unit: d.unit(), Total: total[d], Held: held[d], Free: free[d]})
		}
	}
	return out
}

// FreePercent is the share of the device that one pod could get: that of the resource of which the least is free. A device that
// offers nothing has none.
func (e *Entry) FreePercent() int64 {
	least, offers := int64(100), false
	for _, m := range e.Measures {
		if m.Total > 0 {
			least, offers = min(least, m.Free*100/m.Total), true
		}
	}
	if !offers {
		return 0
	}
	return least
}

// HeldPercent is how much of the device pods hold, rounded up: that of the resource of which they hold most. It is more than 100 when they
// hold more than the device offers.
func (e *Entry) HeldPercent() int64 {
	most := int64(0)
	for _, m := range e.Measures {
		if m.Total > 0 {
			most = max(most, (m.Held*100+m.Total-1)/m.Total)
		}
	}
	return most
}
