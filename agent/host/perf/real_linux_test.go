package perf

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"golang.org/x/sys/unix"
	"koordinator.sh/koord/test/eventually"
)

// TestTheKernelCounts counts software events of a cgroup, which every kernel has: the way is the same as for cycles.
func TestTheKernelCounts(t *testing.T) {
	root := "/sys/fs/cgroup"
	for _, other := range []string{"/sys/fs/cgroup/perf_event", "/sys/fs/cgroup/unified"} {
		if _, err := os.Stat(filepath.Join(other, "cgroup.procs")); err == nil {
			root = other
			break
		}
	}
	group := filepath.Join(root, "koord-test-perf")
	if err := os.Mkdir(group, 0o755); err != nil {
		t.Skip(err)
	}
	process := exec.Command("sh", "-c", "while :; do :; done")
	if err := process.Start(); err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() {
		_ = process.Process.Kill()
		_ = process.Wait() // it was killed
		if err := os.Remove(group); err != nil {
			t.Error(err)
		}
	})
	if err := os.WriteFile(filepath.Join(group, "cgroup.procs"), []byte(strconv.Itoa(process.Process.Pid)), 0); err != nil {
		t.Skip(err)
	}
	kernel := Real{Root: root, events: []event{{unix.PERF_TYPE_SOFTWARE, unix.PERF_COUNT_SW_TASK_CLOCK}, {unix.PERF_TYPE_SOFTWARE, unix.PERF_COUNT_SW_CPU_CLOCK}}}
	if err := kernel.Supported(); err != nil {
		t.Skip(err)
	}
	counter, err := kernel.Count("koord-test-perf", []int{0, 1})
	if err != nil {
		t.Skip(err)
	}
	defer counter.Close()
	eventually.True(t, "a busy process is counted", func() bool {
		sample, err := counter.Read()
		if err != nil {
			t.Fatal(err)
		}
		return sample.Cycles > 1e6 // a millisecond of task clock
	})
}

// TestCyclesHere says what the machine of the test has.
func TestCyclesHere(t *testing.T) {
	if err := (Real{}).Supported(); err != nil {
		t.Skip(err)
	}
}

func TestCPI(t *testing.T) {
	for sample, want := range map[Sample]float64{{3e9, 2e9}: 1.5, {100, 50}: 0, {0, 2e9}: 0, {}: 0} {
		if got := sample.CPI(); got != want {
			t.Errorf("%v: %v, want %v", sample, got, want)
		}
	}
}
