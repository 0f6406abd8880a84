package realnode

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/validation"
)

func TestNamesOfNodes(t *testing.T) {
	for hostname, want := range map[string]string{
		"vm": "vm", "Laptop.local": "laptop.local", "my_host--": "my-host", ".-.": "machine", "": "machine", "größe": "gr-e",
	} {
		got := NodeName(hostname)
		if got != want {
			t.Errorf("NodeName(%q) = %q; want %q", hostname, got, want)
		}
		if problems := validation.IsDNS1123Subdomain(got); problems != nil {
			t.Errorf("NodeName(%q) = %q: %v", hostname, got, problems)
		}
	}
}

// TestNamesTheKernelTakes: interfaces have at most 15 characters, however long the sandbox's name is.
func TestNamesTheKernelTakes(t *testing.T) {
	seen := map[string]string{}
	for _, sandbox := range []string{"demo", "default", strings.Repeat("a", 40), strings.Repeat("a", 39) + "b"} {
		bridge := Node{Sandbox: sandbox}.Bridge()
		if len(bridge) > 15 || seen[bridge] != "" {
			t.Errorf("bridge of %q is %q, like that of %q", sandbox, bridge, seen[bridge])
		}
		seen[bridge] = sandbox
	}
}

func TestFreeSubnets(t *testing.T) {
	first, err := FreeSubnet("demo", nil)
	must(t, err)
	again, err := FreeSubnet("demo", []netip.Prefix{netip.MustParsePrefix("192.168.1.0/24"), netip.MustParsePrefix("fd00::/64")})
	must(t, err)
	if first != again || first.Bits() != 24 || !netip.MustParsePrefix("10.231.0.0/16").Overlaps(first) {
		t.Errorf("subnets %s and %s; want one of 10.231.0.0/16, and the same again", first, again)
	}
	// A network that holds it, one inside it, and all of the first range.
	for _, used := range []string{first.String(), netip.PrefixFrom(first.Addr(), 25).String(), "10.0.0.0/8"} {
		got, err := FreeSubnet("demo", []netip.Prefix{netip.MustParsePrefix(used)})
		if err != nil || got.Overlaps(netip.MustParsePrefix(used)) {
			t.Errorf("beside %s: %s, %v; want one that does not overlap", used, got, err)
		}
	}
	if _, err := FreeSubnet("demo", []netip.Prefix{netip.MustParsePrefix("0.0.0.0/0")}); err == nil {
		t.Error("a machine that is in every network has a free one; want an error")
	}
}

func TestAddressOfANode(t *testing.T) {
	n := Node{Subnet: netip.MustParsePrefix("10.231.7.0/24")}
	if diff := cmp.Diff("10.231.7.1", n.Address().String()); diff != "" {
		t.Errorf("address (-want +got):\n%s", diff)
	}
}
