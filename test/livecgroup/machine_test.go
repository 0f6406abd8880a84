package livecgroup

import (
	"fmt"
	"os"
	"testing"
	"time"

	"koordinator.sh/koord/agent/host"
	"koordinator.sh/koord/agent/host/cgroup"
	"koordinator.sh/koord/test/eventually"
	"koordinator.sh/koord/test/livecgroup/work"
)

func TestTheMachineIsReadAsItIsBuilt(t *testing.T) {
	r := newRig(t)
	topology, err := r.machine.Topology(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	cores, sockets, nodes := map[int32]bool{}, map[int32]bool{}, map[int32]bool{}
	for _, cpu := range topology.CPUs {
		cores[cpu.Core], sockets[cpu.Socket], nodes[cpu.Node] = true, true, true
	}
	found := fmt.Sprintf("cpus=%d cores=%d sockets=%d nodes=%d", len(topology.CPUs), len(cores), len(sockets), len(nodes))
	if want := os.Getenv(TopologyVariable); want != "" && found != want {
		t.Errorf("found %s, want %s", found, want)
	}
	if len(topology.CPUs) != r.CPUs.Len() || len(topology.NUMANodes) != len(nodes) {
		t.Errorf("%d CPUs on %d nodes, want %d on %d", len(topology.CPUs), len(topology.NUMANodes), r.CPUs.Len(), len(nodes))
	}
	capacity, err := r.machine.Capacity(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var memory int64
	for _, node := range topology.NUMANodes {
		memory += node.Memory
	}
	if memory != capacity.Memory || capacity.MilliCPU != int64(r.CPUs.Len())*1000 {
		t.Errorf("capacity %+v, and memory of the nodes %d", capacity, memory)
	}
}

// read is one reading, and what it has of a pod.
func (r *rig) read(uid string) (host.Snapshot, host.PodCounter) {
	r.t.Helper()
	var snapshot host.Snapshot
	if err := r.machine.Read(r.t.Context(), &snapshot); err != nil {
		r.t.Fatal(err)
	}
	for _, pod := range snapshot.Pods {
		if string(pod.UID) == uid {
			return snapshot, pod
		}
	}
	r.t.Fatalf("pod %q is not measured", uid)
	return snapshot, host.PodCounter{}
}

func TestPodsAreMeasured(t *testing.T) {
	r := newRig(t)
	_, before := r.read("batch")
	const held = 32 << 20
	r.Start(r.path("batch/main"), work.Hold(held)).AwaitDone()
	r.Start(r.path("batch/main"), work.Burn(2)).AwaitDone()
	r.write(cgroup.CPUQuota, r.path("batch"), "50000")
	eventually.True(t, "CPU time, memory and throttling of the pod are counted", func() bool {
		snapshot, pod := r.read("batch")
		return len(snapshot.Pods) == 3 && pod.CPU-before.CPU > 100*time.Millisecond && pod.Memory-before.Memory >= held && pod.Throttling.Throttled > 0 &&
			snapshot.Node.CPU > pod.CPU && snapshot.Node.Memory > pod.Memory
	})
	if r.Version == cgroup.V1 {
		return // pressure is not in its directories
	}
	eventually.True(t, "processes of the pod wait for CPU time", func() bool {
		_, pod := r.read("batch")
		return !pod.Pressure.At.IsZero() && pod.Pressure.CPU.Some > 0
	})
}

func TestReadsOfPodsAreMeasured(t *testing.T) {
	path := disk(t)
	r := newRig(t)
	const size = 8 << 20
	r.Start(r.path("batch/main"), work.ReadFile(path, size)).AwaitDone()
	eventually.True(t, "what the pod has read is counted", func() bool {
		_, pod := r.read("batch")
		return pod.BlockIO.ReadBytes >= size && pod.BlockIO.Reads > 0
	})
	_, pod := r.read("batch")
	if pod.Cache < size {
		t.Errorf("page cache of %d bytes after reading %d", pod.Cache, size)
	}
}
