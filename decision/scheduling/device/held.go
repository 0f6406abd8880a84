package device

import (
	"math"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"koordinator.sh/koord/decision/scheduling/reservation"
)

// HeldBy is what a pod that has a node holds of its devices: ReadAllocation, as far as a scheduler can have given it for what
// the pod requests. A user who may create pods could otherwise claim a node by writing the annotation. What the pod wishes
// besides - the hints, joint allocation, partitions - can be edited, also into something that cannot be read, while the pod
// keeps its devices. Therefore HeldBy believes what any wishes could have led to. The pod of a Reservation requests only what
// its users leave of it, in whatever names and amounts that is; what it says is the scheduler's own.
func HeldBy(pod *corev1.Pod) (Allocation, bool) {
	allocation, found := ReadAllocation(pod)
	if !found {
		return Allocation{}, false
	}
	allocation.limit(pod)
	return allocation, len(allocation.Items) > 0
}

// limit leaves what a scheduler can have given to the pod.
func (a *Allocation) limit(pod *corev1.Pod) {
	if reservation.IsReservePod(pod) {
		return
	}
	limits := limitsOf(pod)
	var taken [kinds]int
	a.Items = slices.DeleteFunc(a.Items, func(item Item) bool {
		if taken[item.kind] == limits[item.kind].count {
			return true
		}
		taken[item.kind]++
		return false
	})
	for k := range limits {
		limits[k].jointly(k, taken)
	}
	for i := range a.Items {
		item := &a.Items[i]
		limits[item.kind].apply(item)
	}
}

// most is what a pod can hold at most of the devices of one type.
type most struct {
	// count of devices; 0 when the pod may have none of the type.
	count int
	// whole counts the devices of which the pod may hold all, before those of which it holds no more than each.
	whole int
	each  Amount
}

// limitsOf reads the requests of a pod, and nothing else. Types that it requests in no way that a scheduler serves have no
// limit but zero.
func limitsOf(pod *corev1.Pod) [kinds]most {
	var limits [kinds]most
	for k, list := range asked(pod) {
		if list == nil {
			continue
		}
		demand, err := normalize(kind(k), list)
		if err != nil {
			return [kinds]most{}
		}
		limits[k] = demand.most()
	}
	return limits
}

// most of a demand that no hint was applied to. GPUs are given in the number that is requested. Of other types, strategies
// and joint allocation take more: a share of every device of the node, one for each PCIe switch, or one whole device for
// each percent.
func (d *Demand) most() most {
	if d.kind == gpu {
		return most{count: d.Count, each: d.Each}
	}
	m := most{count: math.MaxInt, each: d.Each}
	if d.Count == 1 {
		m.whole = int(d.Each[d.kind.first()])
	}
	return m
}

// jointly raises the number of whole devices of a type to what joint allocation gives: one for each PCIe switch on which there are devices
// of the leading type, and so no more than there are of another type.
func (m *most) jointly(k int, taken [kinds]int) {
	if m.whole == 0 {
		return
	}
	for other, count := range taken {
		if other != k {
			m.whole = max(m.whole, count)
		}
	}
}

// apply lowers the amount of an item to the limit. Of the memory of a GPU and its percentage, the one that is not requested
// follows from the other, and is left as it is.
func (m *most) apply(item *Item) {
	if m.whole > 0 && item.exceeds(&m.each) {
		m.whole--
		return
	}
	each := m.each
	switch {
	case each[ratio] > 0 && each[memory] == 0:
		each[memory] = item.Amount[memory]
	case each[memory] > 0 && each[ratio] == 0:
		each[ratio] = item.Amount[ratio]
	}
	for d := range item.Amount {
		item.Amount[d] = min(item.Amount[d], each[d])
	}
}

func (i *Item) exceeds(each *Amount) bool {
	_, more := i.Amount.lack(each, i.kind)
	return more
}
