package device

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
)

// lay makes a tree of files, and of links those whose content begins with "-> "; false when the names are none.
func lay(root string, content map[string]string) bool {
	for name, text := range content {
		at := filepath.Join(root, name)
		if os.MkdirAll(filepath.Dir(at), 0o755) != nil {
			return false
		}
		if target, isLink := strings.CutPrefix(text, "-> "); isLink {
			if os.Symlink(target, at) != nil {
				return false
			}
		} else if os.WriteFile(at, []byte(text), 0o600) != nil {
			return false
		}
	}
	return true
}

// FuzzRDMA: whatever a card's links and files say, it has a unique name, functions in order, and a reason when it is not healthy.
func FuzzRDMA(f *testing.F) {
	f.Add("../../../0000:3b:00.0", "virtfn0", "../0000:3b:00.1", "virtfn1", "../0000:3b:00.2", "4: ACTIVE\n")
	f.Add("../../../0000:3c:00.0", "virtfn10", "../0000:3c:01.2", "virtfn9", "../0000:3c:01.1", "1: DOWN\n")
	f.Add("/", "virtfn-1", "..", "virtfn+1", ".", "2: INIT\x00é")
	f.Add("..", "virtfn1", "a", "virtfn01", "b", strings.Repeat("é", 600))
	f.Add("mlx5_core.sf.4", "virtfn", "/", "virtfn99999999999", "x/", "")
	f.Fuzz(func(t *testing.T, card, first, firstAt, second, secondAt, state string) {
		sys := t.TempDir()
		at := "class/infiniband/mlx0/"
		if strings.ContainsAny(first+second, "/") || first == second || strings.HasPrefix(state, "-> ") ||
			!lay(sys, map[string]string{at + "ports/1/state": state, "functions/" + first: "-> " + firstAt, "functions/" + second: "-> " + secondAt}) {
			t.Skip("no tree of this machine")
		}
		cardLink := filepath.Join(sys, at, "device")
		if os.Symlink(filepath.Join(sys, "functions"), cardLink) != nil {
			t.Skip("no link")
		}
		last := int32(-1)
		for _, function := range functionsOf(filepath.Join(sys, at)) {
			if function.Minor <= last || !named(function.BusID) {
				t.Errorf("function %+v follows number %d", function, last)
			}
			last = function.Minor
		}
		if os.Remove(cardLink) != nil || os.Symlink(card, cardLink) != nil {
			t.Skip("no link")
		}
		found, err := RDMA(sys, twoSockets)
		if err != nil || len(found) > 1 {
			t.Fatalf("%+v, %v", found, err)
		}
		for _, one := range found {
			check(t, one, strings.Contains(state, "ACTIVE"))
		}
	})
}

func named(busID string) bool { return strings.Trim(busID, ".") != "" && !strings.Contains(busID, "/") }

func check(t *testing.T, card schedulingv1alpha1.DeviceInfo, active bool) {
	if !named(card.UUID) || card.Minor == nil || *card.Minor != 0 || card.Topology.NodeID < nowhere || card.Topology.SocketID < nowhere {
		t.Errorf("card %+v", card)
	}
	if card.Health != active || card.Health != (len(card.Conditions) == 0) {
		t.Errorf("the card's health is %t, %+v", card.Health, card.Conditions)
	}
	for _, condition := range card.Conditions {
		if condition.Message == "" || len(condition.Message) > 1024 || !utf8.ValidString(condition.Message) {
			t.Errorf("why: %q", condition.Message)
		}
	}
}

// FuzzPlace: a PCI device is on a node and a socket that the machine has or on none, and its root is one name.
func FuzzPlace(f *testing.F) {
	f.Add("0000:3b:00.0", "../../../devices/pci0000:3a/0000:3a:00.0/0000:3b:00.0", "1\n")
	f.Add("0000:01:00.0", "../../../devices/pci0000:00/0000:01:00.0", "-1\n")
	f.Add("10000:e1:00.0", "../../../devices/pci0000:00/0000:00:0e.0/pci10000:e0/10000:e0:00.0/10000:e1:00.0", "0\n")
	f.Add("../..", "pci:", "99999999999")
	f.Add("..", "pcipci0000:3a", "-2147483649")
	f.Fuzz(func(t *testing.T, busID, target, node string) {
		sys := t.TempDir()
		at := filepath.Join(sys, "bus/pci/devices")
		inside := strings.Trim(busID, ".") != "" && !strings.ContainsAny(busID, "/\x00")
		if os.MkdirAll(at, 0o755) != nil {
			t.Skip("no tree")
		}
		if inside && lay(at, map[string]string{busID + "/numa_node": node}) {
			found := place(sys, busID, twoSockets)
			if found.NodeID < nowhere || found.SocketID < nowhere || found.SocketID > 1 || found.NodeID > 1 && found.SocketID != nowhere {
				t.Errorf("%q is at %+v", node, found)
			}
		}
		found := place(sys, busID, twoSockets)
		if !inside && (found.NodeID != nowhere || found.PCIEID != "") {
			t.Errorf("%q is at %+v", busID, found)
		}
		if name := root(target); name != "" && (!strings.HasPrefix(name, "pci") || strings.Contains(name, "/") || !strings.Contains(target, name)) {
			t.Errorf("the root of %q is %q", target, name)
		}
	})
}
