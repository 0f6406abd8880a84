package machine

import (
	"os"
	"path/filepath"
	"testing"

	"koordinator.sh/koord/agent/host/files"
)

// FuzzTopology: a machine that describes itself in any way is described, or it is an error, in bounded memory.
func FuzzTopology(f *testing.F) {
	f.Add("0-1\n", "0\n", "0\n", "0-1\n", node0, "2\n", "model name\t: x\nvendor_id: y\n", meminfo)
	f.Add("0", "-1", "-1", "", "Node 0 MemTotal: 9223372036854775807 kB", "-5", ":\n::", "MemTotal: 9223372036854775807 kB")
	f.Add("0-999999999", "2147483648", "NaN", "0-999999999", "", "", "", "")
	f.Fuzz(func(t *testing.T, online, core, socket, cpulist, node, pages, cpuinfo, memory string) {
		root := t.TempDir()
		for name, content := range map[string]string{
			"devices/system/cpu/online": online, "devices/system/cpu/cpu0/topology/core_id": core, "devices/system/cpu/cpu0/topology/physical_package_id": socket,
			"devices/system/cpu/cpu1/topology/core_id": core, "devices/system/cpu/cpu1/topology/physical_package_id": socket,
			"devices/system/node/node0/cpulist": cpulist, "devices/system/node/node0/meminfo": node,
			"devices/system/node/node0/hugepages/hugepages-2048kB/nr_hugepages": pages, "cpuinfo": cpuinfo, "meminfo": memory,
		} {
			at := filepath.Join(root, name)
			if os.MkdirAll(filepath.Dir(at), 0o755) != nil || os.WriteFile(at, []byte(content), 0o600) != nil {
				t.Skip()
			}
		}
		tree, err := files.NewReal(root)
		if err != nil {
			t.Skip(err)
		}
		defer tree.Close()
		m := &Machine{options: Options{Sys: tree, Proc: tree}}
		if capacity, err := m.Capacity(t.Context()); err == nil && (capacity.MilliCPU < 0 || capacity.Memory < 0) {
			t.Errorf("capacity %+v", capacity)
		}
		topology, err := m.Topology(t.Context())
		if err != nil {
			return
		}
		for _, cpu := range topology.CPUs {
			if cpu.Core < 0 || cpu.Socket < 0 {
				t.Errorf("CPU %+v", cpu)
			}
		}
		for _, node := range topology.NUMANodes {
			if node.Memory < 0 || len(node.HugePages) > 1 {
				t.Errorf("NUMA node %+v", node)
			}
		}
	})
}
