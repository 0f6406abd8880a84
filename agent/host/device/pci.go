package device

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"koordinator.sh/koord/agent/host"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
)

// nowhere is the NUMA node of a device that the kernel has on none.
const nowhere = -1

// place finds a PCI device in the tree at /sys, and the socket of its NUMA node. What the kernel does not tell is -1 or empty.
func place(sys, busID string, machine host.Topology) *schedulingv1alpha1.DeviceTopology {
	out := &schedulingv1alpha1.DeviceTopology{SocketID: nowhere, NodeID: nowhere, BusID: busID}
	if busID == "" || strings.ContainsAny(busID, "/\x00") {
		return out
	}
	at := filepath.Join(sys, "bus/pci/devices", busID)
	if node, err := number(filepath.Join(at, "numa_node")); err == nil && node >= 0 {
		out.NodeID = int32(node)
	}
	if out.NodeID == nowhere && len(machine.NUMANodes) == 1 {
		out.NodeID = machine.NUMANodes[0].ID // firmware of small machines does not care to say
	}
	for _, cpu := range machine.CPUs {
		if cpu.Node == out.NodeID {
			out.SocketID = cpu.Socket
			break
		}
	}
	if target, err := os.Readlink(at); err == nil {
		out.PCIEID = root(target)
	}
	return out
}

// root of the PCI tree that a path in /sys/devices goes through: pci0000:3a of ../../../devices/pci0000:3a/0000:3a:00.0/...
func root(path string) string {
	for part := range strings.SplitSeq(filepath.ToSlash(path), "/") {
		if domain, bus, found := strings.Cut(strings.TrimPrefix(part, "pci"), ":"); found && strings.HasPrefix(part, "pci") && len(domain) >= 4 && len(bus) == 2 {
			return part
		}
	}
	return ""
}

// largestFile that is read of /sys and of other daemons, in bytes.
const largestFile = 1 << 20

// read a small file.
func read(name string) (string, error) {
	info, err := os.Stat(name)
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() || info.Size() > largestFile {
		return "", fmt.Errorf("%q is not a file of up to %d bytes", name, largestFile)
	}
	content, err := os.ReadFile(name)
	return strings.TrimSpace(string(content)), err
}

func number(name string) (int64, error) {
	content, err := read(name)
	if err != nil {
		return 0, err
	}
	return strconv.ParseInt(content, 10, 32)
}
