package device

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"koordinator.sh/koord/api/extension"
)

// Ownership is the devices that one pod of a node holds.
type Ownership struct {
	Allocation Allocation
	// Problem says which devices the pod claims and does not hold, and why; empty when it holds all that it claims.
	Problem string
}

// Owners decides which devices each pod of a node holds, in the order of the pods. The annotation device-allocated says so, and is
// believed only as far as the scheduler can have written it: for what the pod requests (HeldBy). A device of which pods claim more
// than there is, and a virtual function that two of them claim, has no owner.
func Owners(pods []*corev1.Pod) []Ownership {
	owners, shares, functions := make([]Ownership, len(pods)), map[string]Amount{}, map[string]int{}
	for i, pod := range pods {
		owners[i] = ownershipOf(pod)
		for _, item := range owners[i].Allocation.Items {
			share := shares[item.name()]
			share.add(&item.Amount)
			shares[item.name()] = share
			for _, vf := range item.Functions {
				functions[vf.BusID]++
			}
		}
	}
	for i := range owners {
		owners[i].leaveOut("more of it is claimed than there is", func(item Item) bool {
			share := shares[item.name()]
			return share.exceedsWhole(item.kind) || slices.ContainsFunc(item.Functions, func(vf extension.VirtualFunction) bool { return functions[vf.BusID] > 1 })
		})
	}
	return owners
}

// ownershipOf is what a pod may hold by itself.
func ownershipOf(pod *corev1.Pod) Ownership {
	allocation, claims := ReadAllocation(pod)
	if !claims {
		return Ownership{}
	}
	claimed := len(allocation.Items)
	allocation.limit(pod)
	owned := Ownership{Allocation: allocation}
	if more := claimed - len(allocation.Items); more > 0 {
		owned.Problem = fmt.Sprintf("%d of %d devices are claimed beyond what the pod requests", more, claimed)
	}
	return owned
}

// leaveOut takes the devices from a pod that a condition is true for.
func (o *Ownership) leaveOut(why string, contested func(Item) bool) {
	var names []string
	o.Allocation.Items = slices.DeleteFunc(o.Allocation.Items, func(item Item) bool {
		if !contested(item) {
			return false
		}
		names = append(names, item.name())
		return true
	})
	if len(names) > 0 {
		o.Problem = fmt.Sprintf("%s: %s, so it is not allocated", strings.Join(names, ", "), why)
	}
}

// name of a device among those of its node.
func (i *Item) name() string { return fmt.Sprintf("%s %d", i.kind, i.Minor) }

// exceedsWhole is true when shares in percent add up to more than one device.
func (a *Amount) exceedsWhole(k kind) bool {
	if k == gpu {
		return a[core] > 100 || a[ratio] > 100
	}
	return a[k.first()] > 100
}
