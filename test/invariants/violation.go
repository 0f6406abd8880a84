package invariants

import (
	"fmt"
	"slices"
)

// Names of the invariants.
const (
	// WithinAllocatable says that the requests of a node's pods are at most its allocatable.
	WithinAllocatable = "I1 within allocatable"
	// CPUOwnedOnce says that a CPU has one owner, and that CPUs come from those that the node gives away.
	CPUOwnedOnce = "I2 CPU owned once"
	// DeviceWithinCapacity says that no device gives more than it has and no virtual function is given twice.
	DeviceWithinCapacity = "I3 device within capacity"
	// ZoneWithinCapacity says that no NUMA zone gives more than it has, and that SingleNUMANode is one zone.
	ZoneWithinCapacity = "I4 zone within capacity"
	// QuotaWithinRuntime says that a pod is admitted only into what its quota may use.
	QuotaWithinRuntime = "I5 quota within runtime"
	// GangWhole says that of a gang none or at least minMember are bound.
	GangWhole = "I6 gang whole"
	// ReservationWithinAllocated says that a reservation gives no more than it holds, and to one owner if once.
	ReservationWithinAllocated = "I7 reservation within allocated"
	// CachesAgree says that what a scheduler knows, once nothing changes any more, is what the API server lists.
	CachesAgree = "I14 caches agree"
	// AllocationAgrees says that the allocation written on a bound pod is what it asked for, and stays what it was.
	AllocationAgrees = "I15 allocation agrees"
)

// Violation is one invariant that did not hold.
type Violation struct {
	// Invariant is one of the names above.
	Invariant string
	// Subject is the node, pod or quota it is about.
	Subject string
	// Detail says what was found, with its numbers.
	Detail string
	// Revision is the resource version of the pod whose event showed it; empty outside of a watcher.
	Revision string
}

// String is for test failures.
func (v Violation) String() string {
	if v.Revision == "" {
		return fmt.Sprintf("%s: %s: %s", v.Invariant, v.Subject, v.Detail)
	}
	return fmt.Sprintf("%s: %s at revision %s: %s", v.Invariant, v.Subject, v.Revision, v.Detail)
}

// found collects the violations of one invariant by one subject.
type found struct {
	invariant, subject string
	list               []Violation
}

func (f *found) add(format string, args ...any) {
	f.list = append(f.list, Violation{Invariant: f.invariant, Subject: f.subject, Detail: fmt.Sprintf(format, args...)})
}

// sorted returns the violations by their details, so that maps do not decide on their order.
func (f *found) sorted() []Violation {
	slices.SortFunc(f.list, func(a, b Violation) int {
		switch {
		case a.Detail < b.Detail:
			return -1
		case a.Detail > b.Detail:
			return 1
		}
		return 0
	})
	return f.list
}
