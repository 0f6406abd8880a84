package network

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"slices"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"koordinator.sh/koord/decision/nodeqos/networkqos"
)

// major of the discipline that the agent makes.
const major = 1

// Handle of the agent's own discipline.
var Handle = netlink.MakeHandle(major, 0)

// ClassID of a class, as filters and cgroups name it.
func ClassID(minor networkqos.Minor) uint32 { return netlink.MakeHandle(major, uint16(minor)) }

// Plan is how a device is to send.
type Plan struct {
	Classes []networkqos.QueueClass
	// Default is the class of what no filter knows.
	Default networkqos.Minor
	// Addresses of pods, and the class of each.
	Addresses map[netip.Addr]networkqos.Minor
	// ByCgroup has processes of this host's own network sorted by net_cls.classid as well.
	ByCgroup bool
}

// Change is something that was done to a device.
type Change struct {
	// What, such as "class 1:4", and what it was and is.
	What, Old, New string
	Err            error
}

// UnableError says that no device can be queued at all: the kernel has no such discipline, or the agent no permission to set it.
type UnableError struct {
	// Why in words, and Err as the kernel answered.
	Why string
	Err error
}

// Error implements error.
func (e *UnableError) Error() string { return e.Why + ": " + e.Err.Error() }

// Unwrap returns the kernel's error.
func (e *UnableError) Unwrap() error { return e.Err }

// unable is what the kernel's answer to a new discipline says of it; the answer itself where it says nothing.
func unable(err error) error {
	switch {
	case errors.Is(err, unix.EPERM), errors.Is(err, unix.EACCES):
		return &UnableError{Why: "the agent may not queue packets, which takes the capability NET_ADMIN", Err: err}
	case errors.Is(err, unix.EOPNOTSUPP), errors.Is(err, unix.ENOENT):
		return &UnableError{Why: "this kernel has no token buckets (HTB)", Err: err}
	}
	return err
}

// Apply brings a device to a plan, whose discipline must be the agent's own or one that the kernel gave. It returns what it
// changed; what the kernel refuses is among that, and ends it but for filters. An error is an UnableError where no other attempt would
// come to more.
func Apply(control Control, link netlink.Link, plan Plan) ([]Change, error) {
	queue := &queue{control: control, link: link}
	if err := queue.discipline(plan); err != nil {
		return queue.changes, err
	}
	if err := queue.classes(plan); err != nil {
		return queue.changes, err
	}
	return queue.changes, errors.Join(queue.cgroup(plan), queue.addresses(plan))
}

// Remove takes the agent's discipline from a device, with all classes and filters; the kernel gives it back the usual one.
func Remove(control Control, link netlink.Link) ([]Change, error) {
	found, err := DisciplineOf(control, link)
	if err != nil || found.Kind != "htb" || found.Handle != Handle {
		return nil, err
	}
	queue := &queue{control: control, link: link}
	err = control.QdiscDel(&netlink.Htb{QdiscAttrs: netlink.QdiscAttrs{LinkIndex: link.Attrs().Index, Handle: Handle, Parent: netlink.HANDLE_ROOT}})
	return queue.changes, queue.note("discipline", found.String(), "", err)
}

// queue is a device at work.
type queue struct {
	control Control
	link    netlink.Link
	changes []Change
}

func (q *queue) note(what, before, after string, err error) error {
	if err != nil {
		after = before
	}
	q.changes = append(q.changes, Change{What: what, Old: before, New: after, Err: err})
	if err != nil {
		return fmt.Errorf("%s of %s: %w", what, q.link.Attrs().Name, err)
	}
	return nil
}

// discipline makes the agent's own where it is missing.
func (q *queue) discipline(plan Plan) error {
	found, err := DisciplineOf(q.control, q.link)
	if err != nil {
		return err
	}
	if found.Kind == "htb" && found.Handle == Handle {
		return nil
	}
	if found.Handle != 0 {
		return fmt.Errorf("device %s has queueing discipline %s, which koordlet did not create", q.link.Attrs().Name, found)
	}
	htb := netlink.NewHtb(netlink.QdiscAttrs{LinkIndex: q.link.Attrs().Index, Handle: Handle, Parent: netlink.HANDLE_ROOT})
	htb.Defcls = uint32(plan.Default)
	return unable(q.note("discipline", found.String(), Discipline{Kind: "htb", Handle: Handle}.String(), q.control.QdiscAdd(htb)))
}

// classes sets those of the plan, the root first.
func (q *queue) classes(plan Plan) error {
	all, err := q.control.ClassList(q.link, netlink.HANDLE_NONE)
	if err != nil {
		return fmt.Errorf("list the classes of %s: %w", q.link.Attrs().Name, err)
	}
	existing := map[uint32]*netlink.HtbClass{}
	for _, class := range all {
		if htb, is := class.(*netlink.HtbClass); is {
			existing[htb.Handle] = htb
		}
	}
	for _, class := range plan.Classes {
		wanted := q.class(class)
		before := existing[wanted.Handle]
		if before != nil && before.Rate == wanted.Rate && before.Ceil == wanted.Ceil && (class.Minor == networkqos.Root || before.Prio == wanted.Prio) {
			continue
		}
		was := ""
		if before != nil {
			was = show(before)
		}
		if err := q.note(fmt.Sprintf("class 1:%d", class.Minor), was, show(wanted), q.control.ClassReplace(wanted)); err != nil {
			return err
		}
	}
	return nil
}

// Bounds of what a class sends at one go, in bytes: below, packets do not fit; above, others wait too long.
const leastQuantum, mostQuantum = 1600, 60_000

func (q *queue) class(class networkqos.QueueClass) *netlink.HtbClass {
	parent := Handle
	if class.Parent != 0 {
		parent = ClassID(class.Parent)
	}
	return netlink.NewHtbClass(
		netlink.ClassAttrs{LinkIndex: q.link.Attrs().Index, Parent: parent, Handle: ClassID(class.Minor)},
		netlink.HtbClassAttrs{
			Rate: uint64(class.Rate.Bits()), Ceil: uint64(class.Ceiling.Bits()), Prio: class.Priority,
			Quantum: uint32(min(max(class.Rate.Bytes()/10, leastQuantum), mostQuantum)),
		})
}

// show says what a class is like, in bytes per second as the kernel counts.
func show(class *netlink.HtbClass) string {
	return fmt.Sprintf("prio %d rate %d ceil %d", class.Prio, class.Rate, class.Ceil)
}

// cgroup makes the filter by net_cls.classid.
func (q *queue) cgroup(plan Plan) error {
	all, err := q.control.FilterList(q.link, Handle)
	if err != nil || !plan.ByCgroup {
		return err
	}
	for _, filter := range all {
		if filter.Type() == "cgroup" {
			return nil
		}
	}
	filter := &netlink.GenericFilter{FilterType: "cgroup", FilterAttrs: netlink.FilterAttrs{
		LinkIndex: q.link.Attrs().Index, Parent: Handle, Handle: 1, Priority: cgroupPriority, Protocol: unix.ETH_P_ALL,
	}}
	return q.note("filter by cgroup", "", "net_cls.classid", q.control.FilterAdd(filter))
}

// addresses brings the filters by addresses to the plan: what is wrong goes first, so that no packet has two.
func (q *queue) addresses(plan Plan) error {
	all, err := q.control.FilterList(q.link, Handle)
	if err != nil {
		return fmt.Errorf("list the filters of %s: %w", q.link.Attrs().Name, err)
	}
	there := map[netip.Addr]bool{}
	var problems []error
	for _, filter := range all {
		u32, is := filter.(*netlink.U32)
		if !is || u32.Sel == nil {
			continue // a table of filters
		}
		address, known := addressOf(u32)
		if !known {
			continue
		}
		if minor, wanted := plan.Addresses[address]; wanted && u32.ClassId == ClassID(minor) && !there[address] {
			there[address] = true
			continue
		}
		problems = append(problems, q.note("filter of "+address.String(), fmt.Sprintf("%x", u32.ClassId), "", q.control.FilterDel(u32)))
	}
	for _, address := range slices.SortedFunc(maps.Keys(plan.Addresses), func(a, b netip.Addr) int { return cmp.Compare(a.String(), b.String()) }) {
		if there[address] {
			continue
		}
		filter := q.filter(address, ClassID(plan.Addresses[address]))
		problems = append(problems, q.note("filter of "+address.String(), "", fmt.Sprintf("%x", filter.ClassId), q.control.FilterAdd(filter)))
	}
	return errors.Join(problems...)
}
