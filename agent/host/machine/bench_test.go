package machine

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"

	"koordinator.sh/koord/agent/host"
	"koordinator.sh/koord/agent/host/cgroup"
	"koordinator.sh/koord/agent/host/files"
	"koordinator.sh/koord/agent/metrics"
)

// BenchmarkCycle is one reading of pods of two containers each, in which nothing runs, and all that is measured by it, on files in
// memory.
func BenchmarkCycle(b *testing.B) {
	for _, layout := range []cgroup.Layout{{Version: cgroup.V1, Driver: cgroup.Cgroupfs}, {Version: cgroup.V2, Driver: cgroup.Systemd}} {
		for _, pods := range []int{50, 110, 250} {
			b.Run(fmt.Sprintf("v%d/pods=%d", layout.Version, pods), func(b *testing.B) { cycle(b, layout, pods) })
		}
	}
}

func cycle(b *testing.B, layout cgroup.Layout, pods int) {
	m := crowded(b, layout, pods)
	defer m.Close()
	node := metrics.NewNode(metrics.Policy{})
	var snapshot host.Snapshot
	next := func() {
		m.slowly = time.Time{} // as if a period had passed
		if err := m.Read(b.Context(), &snapshot); err != nil {
			b.Fatal(err)
		}
		node.Observe(&snapshot)
	}
	for range 2 * Turns {
		next()
	}
	if len(snapshot.Pods) != pods || len(snapshot.Containers) != 2*pods {
		b.Fatalf("%d pods of %d containers", len(snapshot.Pods), len(snapshot.Containers))
	}
	b.ReportAllocs()
	before := processorTime(b)
	for b.Loop() {
		next()
	}
	used := processorTime(b) - before
	b.ReportMetric(float64(used.Microseconds())/1000/float64(b.N)*100/float64(pods), "CPU-ms/100pods")
	runtime.GC()
	var heap runtime.MemStats
	runtime.ReadMemStats(&heap)
	b.ReportMetric(float64(heap.HeapInuse+heap.StackInuse)/(1<<20), "heap-MiB")
}

func processorTime(b *testing.B) time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		b.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// crowded makes a machine of so many pods, in memory where there is a directory for that.
func crowded(b *testing.B, layout cgroup.Layout, pods int) *Machine {
	root, err := os.MkdirTemp("/dev/shm", "koord-bench-")
	if err != nil {
		root = b.TempDir()
	} else {
		b.Cleanup(func() { _ = os.RemoveAll(root) }) // it is memory until the machine restarts at most
	}
	content := machineOf(layout)
	for i := range pods {
		class := corev1.PodQOSBurstable
		if i%2 == 0 {
			class = corev1.PodQOSBestEffort
		}
		at := layout.Pod(class, types.UID(fmt.Sprintf("%08x-0000", i)))
		set(content["cgroup"], layout, at, "3")
		for j := range 2 {
			name := fmt.Sprintf("%064x", i*2+j)
			if layout.Driver == cgroup.Systemd {
				name = "cri-containerd-" + name + ".scope"
			}
			set(content["cgroup"], layout, at+"/"+name, "2")
		}
	}
	for name := range content["cgroup"] { // the pod that comes with the machine is one too many
		if strings.Contains(name, "/poda/") || strings.Contains(name, "-poda.slice") {
			delete(content["cgroup"], name)
		}
	}
	trees := map[string]*files.Real{}
	for name, of := range content {
		for file, text := range of {
			at := filepath.Join(root, name, file)
			if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
				b.Fatal(err)
			}
			if err := os.WriteFile(at, []byte(text), 0o600); err != nil {
				b.Fatal(err)
			}
		}
		tree, err := files.NewReal(filepath.Join(root, name))
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { _ = tree.Close() }) // nothing was written
		trees[name] = tree
	}
	m, err := New(Options{Proc: trees["proc"], Sys: trees["sys"], Cgroup: trees["cgroup"], Layout: layout, Clock: clock.RealClock{}})
	if err != nil {
		b.Fatal(err)
	}
	return m
}
