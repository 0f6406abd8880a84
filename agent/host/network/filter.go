package network

import (
	"encoding/binary"
	"net/netip"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// Priorities of the filters; each protocol needs a different one.
const (
	cgroupPriority = 1
	v4Priority     = 4
	v6Priority     = 6
)

// Offsets of the sender in the headers of IPv4 and IPv6.
const (
	senderV4 = 12
	senderV6 = 8
)

// filter is one that puts what an address sends into a class.
func (q *queue) filter(address netip.Addr, class uint32) *netlink.U32 {
	protocol, priority, offset := uint16(unix.ETH_P_IP), uint16(v4Priority), int32(senderV4)
	if address.Is6() {
		protocol, priority, offset = unix.ETH_P_IPV6, v6Priority, senderV6
	}
	selector := &netlink.TcU32Sel{Flags: netlink.TC_U32_TERMINAL}
	for word := range words(address) {
		selector.Keys = append(selector.Keys, netlink.TcU32Key{Mask: 0xffffffff, Val: words(address)[word], Off: offset + int32(word)*4})
	}
	selector.Nkeys = uint8(len(selector.Keys))
	return &netlink.U32{
		FilterAttrs: netlink.FilterAttrs{LinkIndex: q.link.Attrs().Index, Parent: Handle, Priority: priority, Protocol: protocol},
		ClassId:     class, Sel: selector,
	}
}

// words are an address four bytes at a time.
func words(address netip.Addr) []uint32 {
	var out []uint32
	for bytes := address.AsSlice(); len(bytes) > 0; bytes = bytes[4:] {
		out = append(out, binary.BigEndian.Uint32(bytes))
	}
	return out
}

// addressOf reads the address of a filter that the agent made; false for others.
func addressOf(filter *netlink.U32) (netip.Addr, bool) {
	first, count := int32(senderV4), 1
	if filter.Protocol == unix.ETH_P_IPV6 {
		first, count = senderV6, 4
	}
	if len(filter.Sel.Keys) != count {
		return netip.Addr{}, false
	}
	var bytes []byte
	for i, key := range filter.Sel.Keys {
		if key.Off != first+int32(i)*4 || key.Mask != 0xffffffff {
			return netip.Addr{}, false
		}
		bytes = binary.BigEndian.AppendUint32(bytes, key.Val)
	}
	return netip.AddrFromSlice(bytes)
}
