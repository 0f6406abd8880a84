package machine

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"koordinator.sh/koord/agent/host"
	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/decision/core/cpuset"
)

const (
	cpuTree  = "devices/system/cpu"
	nodeTree = "devices/system/node"
)

// Topology implements host.Host, from /sys/devices/system and /proc/cpuinfo.
func (m *Machine) Topology(context.Context) (host.Topology, error) {
	nodes, byCPU, err := m.numaNodes()
	if err != nil {
		return host.Topology{}, fmt.Errorf("read NUMA nodes: %w", err)
	}
	cpus, err := m.cpus(byCPU)
	if err != nil {
		return host.Topology{}, fmt.Errorf("read CPUs: %w", err)
	}
	model, err := m.model(cpus)
	if err != nil {
		return host.Topology{}, err
	}
	return host.Topology{Model: model, CPUs: cpus, NUMANodes: nodes}, nil
}

func (m *Machine) online() (cpuset.CPUSet, error) { return m.list(cpuTree + "/online") }

// list reads a list of CPUs in /sys.
func (m *Machine) list(path string) (cpuset.CPUSet, error) {
	content, err := m.options.Sys.Read(path, nil)
	if err != nil {
		return cpuset.CPUSet{}, err
	}
	set, err := cpuset.Parse(string(bytes.TrimSpace(content)))
	if err != nil {
		return cpuset.CPUSet{}, fmt.Errorf("/sys/%s: %w", path, err)
	}
	return set, nil
}

// cpus lists the CPUs that are online. The kernel numbers cores within their socket; the topology wants them numbered
// throughout, in the order of sockets.
func (m *Machine) cpus(nodeOf map[int]int32) ([]extension.CPUInfo, error) {
	online, err := m.online()
	if err != nil {
		return nil, err
	}
	cpus := make([]extension.CPUInfo, 0, online.Len())
	for id := range online.All() {
		directory := fmt.Sprintf("%s/cpu%d/topology/", cpuTree, id)
		core, err := m.number(directory + "core_id")
		if err != nil {
			return nil, err
		}
		socket, err := m.number(directory + "physical_package_id")
		if err != nil {
			return nil, err
		}
		cpus = append(cpus, extension.CPUInfo{ID: int32(id), Core: core, Socket: max(socket, 0), Node: nodeOf[id]})
	}
	renumberCores(cpus)
	return cpus, nil
}

func renumberCores(cpus []extension.CPUInfo) {
	type place struct{ socket, core int32 }
	var places []place
	for _, cpu := range cpus {
		places = append(places, place{cpu.Socket, cpu.Core})
	}
	compare := func(a, b place) int { return cmp.Or(cmp.Compare(a.socket, b.socket), cmp.Compare(a.core, b.core)) }
	slices.SortFunc(places, compare)
	places = slices.Compact(places)
	for i := range cpus {
		index, _ := slices.BinarySearchFunc(places, place{cpus[i].Socket, cpus[i].Core}, compare)
		cpus[i].Core = int32(index)
	}
}

// numaNodes lists the NUMA nodes, and the node of each CPU. A kernel without NUMA has one node with everything. So has a machine with one
// node: a kernel that gets memory while or after it starts may count only part of it in the node.
func (m *Machine) numaNodes() ([]host.NUMANode, map[int]int32, error) {
	names, err := m.options.Sys.Directories(nodeTree)
	if err != nil && m.options.Sys.Exists(nodeTree) {
		return nil, nil, err
	}
	var nodes []host.NUMANode
	byCPU := map[int]int32{}
	for _, name := range names {
		id, err := strconv.ParseInt(strings.TrimPrefix(name, "node"), 10, 32)
		if err != nil || !strings.HasPrefix(name, "node") {
			continue
		}
		cpus, err := m.list(nodeTree + "/" + name + "/cpulist")
		if err != nil {
			return nil, nil, err
		}
		for cpu := range cpus.All() {
			byCPU[cpu] = int32(id)
		}
		memory, err := m.nodeMemory(name)
		if err != nil {
			return nil, nil, err
		}
		nodes = append(nodes, host.NUMANode{ID: int32(id), Memory: memory, HugePages: m.hugePages(name)})
	}
	slices.SortFunc(nodes, func(a, b host.NUMANode) int { return cmp.Compare(a.ID, b.ID) })
	if len(nodes) > 1 {
		return nodes, byCPU, nil
	}
	if len(nodes) == 0 {
		nodes = []host.NUMANode{{}}
	}
	capacity, err := m.Capacity(context.Background())
	nodes[0].Memory = capacity.Memory
	return nodes, byCPU, err
}

// hugePages reads directories such as hugepages-2048kB; none of a kernel that has none.
func (m *Machine) hugePages(node string) []host.HugePages {
	within := nodeTree + "/" + node + "/hugepages"
	names, err := m.options.Sys.Directories(within)
	if err != nil {
		return nil
	}
	var pages []host.HugePages
	for _, name := range names {
		size, isSize := strings.CutPrefix(name, "hugepages-")
		kib, err := strconv.ParseInt(strings.TrimSuffix(size, "kB"), 10, 32)
		if err != nil || !isSize {
			continue
		}
		count, err := m.number(within + "/" + name + "/nr_hugepages")
		if err == nil && count > 0 {
			pages = append(pages, host.HugePages{Size: kib << 10, Count: int64(count)})
		}
	}
	slices.SortFunc(pages, func(a, b host.HugePages) int { return cmp.Compare(a.Size, b.Size) })
	return pages
}

func nodeName(id int32) string { return "node" + strconv.Itoa(int(id)) }

// nodeMemory reads "Node 0 MemTotal: 12 kB".
func (m *Machine) nodeMemory(name string) (int64, error) {
	path := nodeTree + "/" + name + "/meminfo"
	content, err := m.options.Sys.Read(path, nil)
	if err != nil {
		return 0, err
	}
	_, after, _ := bytes.Cut(content, []byte("MemTotal:"))
	kib, _, err := leadingNumber(after)
	if err != nil {
		return 0, fmt.Errorf("/sys/%s, MemTotal: %w", path, err)
	}
	return min(kib, math.MaxInt64>>10) << 10, nil
}

// number reads a small integer, which may be negative for what is not known.
func (m *Machine) number(path string) (int32, error) {
	content, err := m.options.Sys.Read(path, nil)
	if err != nil {
		return 0, err
	}
	value, err := strconv.ParseInt(string(bytes.TrimSpace(content)), 10, 32)
	if err != nil {
		return 0, fmt.Errorf("/sys/%s: %w", path, err)
	}
	return int32(value), nil
}

// model reads what the CPUs are called, and whether they share cores and may exceed their base frequency.
func (m *Machine) model(cpus []extension.CPUInfo) (extension.CPUBasicInfo, error) {
	content, err := m.options.Proc.Read("cpuinfo", nil)
	if err != nil {
		return extension.CPUBasicInfo{}, err
	}
	cores := map[int32]bool{}
	for _, cpu := range cpus {
		cores[cpu.Core] = true
	}
	return extension.CPUBasicInfo{
		CPUModel: textField(content, "model name"), VendorID: textField(content, "vendor_id"),
		HyperThreadEnabled: len(cores) < len(cpus), TurboEnabled: m.turbo(),
	}, nil
}

// turbo reads the two ways in which drivers tell it; false where neither does.
func (m *Machine) turbo() bool {
	if disabled, err := m.number(cpuTree + "/intel_pstate/no_turbo"); err == nil {
		return disabled == 0
	}
	boost, err := m.number(cpuTree + "/cpufreq/boost")
	return err == nil && boost == 1
}

// textField reads "name	: value" of /proc/cpuinfo.
func textField(content []byte, name string) string {
	for line := range bytes.Lines(content) {
		key, value, found := bytes.Cut(line, []byte(":"))
		if found && string(bytes.TrimSpace(key)) == name {
			return string(bytes.TrimSpace(value))
		}
	}
	return ""
}
