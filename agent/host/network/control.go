package network

import (
	"errors"
	"fmt"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// Control is the part of netlink that is needed here; *netlink.Handle implements it.
type Control interface {
	LinkByIndex(index int) (netlink.Link, error)
	RouteList(link netlink.Link, family int) ([]netlink.Route, error)
	QdiscList(link netlink.Link) ([]netlink.Qdisc, error)
	QdiscAdd(netlink.Qdisc) error
	QdiscDel(netlink.Qdisc) error
	ClassList(link netlink.Link, parent uint32) ([]netlink.Class, error)
	ClassReplace(netlink.Class) error
	FilterList(link netlink.Link, parent uint32) ([]netlink.Filter, error)
	FilterAdd(netlink.Filter) error
	FilterDel(netlink.Filter) error
}

var _ Control = (*netlink.Handle)(nil)

// ErrNoUplink is for a machine without a default route.
var ErrNoUplink = errors.New("there is no default route")

// Uplink finds the device of the default route, that of IPv4 first and of several the one that is preferred.
func Uplink(control Control) (netlink.Link, error) {
	for _, family := range []int{unix.AF_INET, unix.AF_INET6} {
		routes, err := control.RouteList(nil, family)
		if err != nil {
			return nil, fmt.Errorf("list routes: %w", err)
		}
		best := -1
		for i, route := range routes {
			if isDefault(route) && route.LinkIndex > 0 && (best < 0 || route.Priority < routes[best].Priority) {
				best = i
			}
		}
		if best >= 0 {
			link, err := control.LinkByIndex(routes[best].LinkIndex)
			if err != nil {
				return nil, fmt.Errorf("find device %d of the default route: %w", routes[best].LinkIndex, err)
			}
			return link, nil
		}
	}
	return nil, ErrNoUplink
}

func isDefault(route netlink.Route) bool {
	if route.Dst == nil {
		return true
	}
	ones, _ := route.Dst.Mask.Size()
	return ones == 0 && route.Dst.IP.IsUnspecified()
}

// Discipline is the one that a device sends by.
type Discipline struct {
	// Kind such as fq_codel, and Handle; 0 for one that the kernel gave by itself.
	Kind   string
	Handle uint32
}

// String is how tc shows it.
func (d Discipline) String() string { return fmt.Sprintf("%s %x:", d.Kind, d.Handle>>16) }

// DisciplineOf reads the discipline of a device.
func DisciplineOf(control Control, link netlink.Link) (Discipline, error) {
	all, err := control.QdiscList(link)
	if err != nil {
		return Discipline{}, fmt.Errorf("read the discipline of %s: %w", link.Attrs().Name, err)
	}
	for _, qdisc := range all {
		if attributes := qdisc.Attrs(); attributes.Parent == netlink.HANDLE_ROOT {
			return Discipline{Kind: qdisc.Type(), Handle: attributes.Handle}, nil
		}
	}
	return Discipline{Kind: "noqueue"}, nil
}
