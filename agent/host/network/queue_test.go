package network

import (
	"errors"
	"net"
	"net/netip"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/vishvananda/netlink"

	"koordinator.sh/koord/agent/host/network/networktest"
	"koordinator.sh/koord/decision/nodeqos/networkqos"
)

const gigabit networkqos.Rate = 1_000_000_000

// classes give best effort at most a tenth.
func classes() []networkqos.QueueClass {
	return []networkqos.QueueClass{
		{Minor: networkqos.Root, Rate: gigabit, Ceiling: gigabit},
		{Minor: networkqos.System, Parent: networkqos.Root, Priority: 1, Rate: 8_000, Ceiling: gigabit},
		{Minor: networkqos.LS, Parent: networkqos.Root, Priority: 2, Rate: gigabit / 2, Ceiling: gigabit},
		{Minor: networkqos.BE, Parent: networkqos.Root, Priority: 3, Rate: 8_000, Ceiling: gigabit / 10},
	}
}

var pods = []string{"10.1.0.1", "10.1.0.2", "fd00::5"}

func plan() Plan {
	return Plan{Classes: classes(), Default: networkqos.LS, Addresses: map[netip.Addr]networkqos.Minor{
		netip.MustParseAddr(pods[0]): networkqos.LS, netip.MustParseAddr(pods[1]): networkqos.BE, netip.MustParseAddr(pods[2]): networkqos.BE,
	}}
}

// apply skips the test where the kernel has no token buckets.
func apply(t *testing.T, control Control, link netlink.Link, plan Plan) []Change {
	t.Helper()
	changes, err := Apply(control, link, plan)
	if errors.Is(err, syscall.ENOENT) || errors.Is(err, syscall.EOPNOTSUPP) {
		t.Skipf("this kernel lacks something: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return changes
}

// TestTheKernelQueues sets everything up on its own device, reads it back, sends packets, and removes it.
func TestTheKernelQueues(t *testing.T) {
	networktest.Run(t, pods, func(t *testing.T, control *netlink.Handle) {
		link, err := Uplink(control)
		if err != nil || link.Attrs().Name != networktest.Uplink {
			t.Fatalf("uplink %v, %v", link, err)
		}
		before, err := DisciplineOf(control, link)
		if err != nil {
			t.Fatal(err)
		}
		if changes := apply(t, control, link, plan()); len(changes) != 8 {
			t.Errorf("changes %+v, want a discipline, four classes and three filters", changes)
		}
		if changes := apply(t, control, link, plan()); len(changes) != 0 {
			t.Errorf("changed again: %+v", changes)
		}
		if found, err := DisciplineOf(control, link); err != nil || found.Kind != "htb" || found.Handle != Handle {
			t.Errorf("discipline %v, %v", found, err)
		}
		for _, address := range []string{pods[0], pods[1], pods[1], networktest.Node} {
			send(t, address)
		}
		// The kernel sends a few packets itself, which fall to the default class.
		got := packets(t, control, link)
		if got[networkqos.System] != 0 || got[networkqos.LS] < 2 || got[networkqos.BE] != 2 {
			t.Errorf("packets by class are %v; want none of the system, at least 2 of services and 2 of best effort", got)
		}
		if _, err := Remove(control, link); err != nil {
			t.Fatal(err)
		}
		if after, err := DisciplineOf(control, link); err != nil || after != before {
			t.Errorf("discipline %v, %v, was %v before", after, err, before)
		}
		if changes, err := Remove(control, link); err != nil || len(changes) > 0 {
			t.Errorf("removed again: %+v, %v", changes, err)
		}
	})
}

func TestAPlanThatChanges(t *testing.T) {
	networktest.Run(t, pods, func(t *testing.T, control *netlink.Handle) {
		link, err := Uplink(control)
		if err != nil {
			t.Fatal(err)
		}
		apply(t, control, link, plan())
		next := plan()
		next.Classes[3].Ceiling = gigabit / 5
		next.Addresses[netip.MustParseAddr(pods[0])] = networkqos.BE
		delete(next.Addresses, netip.MustParseAddr(pods[1]))
		var got []string
		for _, change := range apply(t, control, link, next) {
			got = append(got, change.What+": "+change.Old+" > "+change.New)
		}
		want := []string{
			"class 1:4: prio 3 rate 1000 ceil 12500000 > prio 3 rate 1000 ceil 25000000",
			"filter of 10.1.0.1: 10003 > ", "filter of 10.1.0.2: 10004 > ", "filter of 10.1.0.1:  > 10004",
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("changes (-want +got):\n%s", diff)
		}
		send(t, pods[0])
		if got := packets(t, control, link)[networkqos.BE]; got != 1 {
			t.Errorf("%d packets went by best effort, want 1", got)
		}
	})
}

func TestADisciplineOfSomebodyElse(t *testing.T) {
	networktest.Run(t, pods, func(t *testing.T, control *netlink.Handle) {
		link, err := Uplink(control)
		if err != nil {
			t.Fatal(err)
		}
		theirs := &netlink.Tbf{
			QdiscAttrs: netlink.QdiscAttrs{LinkIndex: link.Attrs().Index, Handle: netlink.MakeHandle(5, 0), Parent: netlink.HANDLE_ROOT},
			Rate:       1_000_000, Limit: 10_000, Buffer: 10_000,
		}
		if err := control.QdiscAdd(theirs); err != nil {
			t.Skip(err)
		}
		if changes, err := Apply(control, link, plan()); err == nil || len(changes) > 0 {
			t.Errorf("%+v, %v", changes, err)
		}
		if changes, err := Remove(control, link); err != nil || len(changes) > 0 {
			t.Errorf("removed what is not the agent's: %+v, %v", changes, err)
		}
		if found, err := DisciplineOf(control, link); err != nil || found.Kind != "tbf" {
			t.Errorf("discipline %v, %v", found, err)
		}
	})
}

func TestAMachineWithoutARoute(t *testing.T) {
	networktest.Run(t, nil, func(t *testing.T, control *netlink.Handle) {
		link, err := Uplink(control)
		if err != nil {
			t.Fatal(err)
		}
		if err := control.LinkSetDown(link); err != nil {
			t.Fatal(err)
		}
		if _, err := Uplink(control); !errors.Is(err, ErrNoUplink) {
			t.Errorf("%v, want ErrNoUplink", err)
		}
	})
}

// send sends one packet of IPv4 from an address.
func send(t *testing.T, from string) {
	t.Helper()
	connection, err := net.DialUDP("udp4", &net.UDPAddr{IP: net.ParseIP(from)}, &net.UDPAddr{IP: net.ParseIP(networktest.Peer), Port: 9})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = connection.Close() }() // it sends at once
	if _, err := connection.Write([]byte("hello")); err != nil {
		t.Fatal(err)
	}
}

// packets that went by each class.
func packets(t *testing.T, control Control, link netlink.Link) map[networkqos.Minor]uint32 {
	t.Helper()
	all, err := control.ClassList(link, netlink.HANDLE_NONE)
	if err != nil {
		t.Fatal(err)
	}
	out := map[networkqos.Minor]uint32{}
	for _, class := range all {
		if minor := networkqos.Minor(class.Attrs().Handle); minor != networkqos.Root && class.Attrs().Statistics != nil {
			out[minor] = class.Attrs().Statistics.Basic.Packets
		}
	}
	return out
}
