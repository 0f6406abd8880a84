// Package networktest runs tests in a separate network namespace, whose devices no other test has.
package networktest

import (
	"errors"
	"net/netip"
	"runtime"
	"testing"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// Addresses in the namespace: Node is that of the device Uplink, behind which is Peer; the pods' are on the loopback device.
const (
	Uplink = "uplink"
	Node   = "10.9.0.1"
	Peer   = "10.9.0.2"
)

// Run runs a test in a new namespace that has one pair of virtual devices, a default route by one of them, and some addresses of
// pods. It skips what needs root, or a kernel with such devices. The goroutine of the test must not be used afterwards.
func Run(t *testing.T, pods []string, test func(t *testing.T, control *netlink.Handle)) {
	t.Helper()
	runtime.LockOSThread() // never unlocked: the thread ends with the test's goroutine, and the namespace with it
	if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
		t.Skipf("a network namespace: %v", err)
	}
	control, err := netlink.NewHandle(unix.NETLINK_ROUTE)
	if err != nil {
		t.Skip(err)
	}
	defer control.Close()
	if err := build(control, pods); err != nil {
		t.Skipf("devices in the namespace: %v", err)
	}
	test(t, control)
}

func build(control *netlink.Handle, pods []string) error {
	pair := &netlink.Veth{LinkAttrs: netlink.LinkAttrs{Name: Uplink}, PeerName: "peer"}
	if err := control.LinkAdd(pair); err != nil {
		return err
	}
	var problems []error
	for _, name := range []string{"lo", Uplink, "peer"} {
		link, err := control.LinkByName(name)
		if err != nil {
			return err
		}
		problems = append(problems, control.LinkSetUp(link))
	}
	uplink, err := control.LinkByName(Uplink)
	if err != nil {
		return err
	}
	peer, err := control.LinkByName("peer")
	if err != nil {
		return err
	}
	loopback, err := control.LinkByName("lo")
	if err != nil {
		return err
	}
	give := func(link netlink.Link, address string) {
		parsed, err := netlink.ParseAddr(address)
		problems = append(problems, err, control.AddrAdd(link, parsed))
	}
	give(uplink, Node+"/24")
	for _, pod := range pods {
		bits := "/32"
		if netip.MustParseAddr(pod).Is6() {
			bits = "/128"
		}
		give(loopback, pod+bits)
	}
	gateway := netip.MustParseAddr(Peer)
	return errors.Join(append(problems,
		control.RouteAdd(&netlink.Route{LinkIndex: uplink.Attrs().Index, Gw: gateway.AsSlice()}),
		control.NeighSet(&netlink.Neigh{
			LinkIndex: uplink.Attrs().Index, State: netlink.NUD_PERMANENT, IP: gateway.AsSlice(), HardwareAddr: peer.Attrs().HardwareAddr,
		}),
	)...)
}
