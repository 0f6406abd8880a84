package device

import (
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
)

// Largest is the most that one more pod can request of a type and get on the node, going by its devices alone: a number of whole
// devices or, where no whole one can be had, a share of one in percent. Both are 0 when nothing fits. The request is one without a
// selector, hint or template; GPU partitions count where the node honors them.
func (l *Ledger) Largest(name schedulingv1alpha1.DeviceType, policy *Policy) (devices int, percent int64) {
	k, known := kindOf(name)
	if !known {
		return 0, 0
	}
	idle, whole := l.smallestIdle(k)
	for count := idle; count > 0; count-- {
		if l.serves(policy, Demand{Type: name, kind: k, Count: count, Each: whole}) {
			return count, 0
		}
	}
	for i := range l.node.devices[k] {
		if l.idle[k].has(i) {
			continue // a share of it is less than the whole, which cannot be had
		}
		e := l.entry(k, i)
		share := e.FreePercent()
		each := l.node.devices[k][i].total.percent(share)
		if share > percent && l.serves(policy, Demand{Type: name, kind: k, Count: 1, Each: each, Shared: true}) {
			percent = share
		}
	}
	return 0, percent
}

// smallestIdle counts the idle devices of a type, and returns what every one of them offers.
func (l *Ledger) smallestIdle(k kind) (count int, offer Amount) {
	for i := l.idle[k].next(0); i >= 0; i = l.idle[k].next(i + 1) {
		total := l.node.devices[k][i].total.percent(100)
		if count++; count == 1 {
			offer = total
		}
		for d := range offer {
			offer[d] = min(offer[d], total[d])
		}
	}
	return count, offer
}

// serves is true when the node has devices for a demand, and the demand is for something.
func (l *Ledger) serves(policy *Policy, demand Demand) bool {
	if demand.Each == (Amount{}) {
		return false
	}
	return Fits(Input{Ledger: l, Request: &Request{Demands: []Demand{demand}}, Policy: policy}, nil) == nil
}

// percent is a share of what a device offers, as a pod requests it: memory follows from its ratio where the device has one.
func (a *Amount) percent(share int64) Amount {
	var part Amount
	for d := range a {
		part[d] = RatioToBytes(share, a[d])
	}
	if part[ratio] > 0 {
		part[memory] = 0
	}
	return part
}
