package realnode

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
)

// ranges that the pods' addresses are taken from: a corner of the private addresses that is seldom used, and the range that is
// reserved for measuring network equipment.
var ranges = [][2]byte{{10, 231}, {198, 18}}

// FreeSubnet returns 254 addresses for the pods of a sandbox that no network in use overlaps with. The same name gets the same
// ones where they are free.
func FreeSubnet(sandbox string, used []netip.Prefix) (netip.Prefix, error) {
	first := sha256.Sum256([]byte(sandbox))[0]
	for _, r := range ranges {
		for i := range 256 {
			subnet := netip.PrefixFrom(netip.AddrFrom4([4]byte{r[0], r[1], first + byte(i), 0}), 24)
			if !slices.ContainsFunc(used, subnet.Overlaps) {
				return subnet, nil
			}
		}
	}
	return netip.Prefix{}, errors.New("find a pod CIDR: all candidates overlap with networks of this machine")
}

// usedNetworks are those that the machine has an address in.
func usedNetworks() ([]netip.Prefix, error) {
	addresses, err := net.InterfaceAddrs()
	if err != nil {
		return nil, fmt.Errorf("list the addresses of this machine: %w", err)
	}
	var used []netip.Prefix
	for _, address := range addresses {
		if prefix, err := netip.ParsePrefix(address.String()); err == nil {
			used = append(used, prefix.Masked())
		}
	}
	return used, nil
}
