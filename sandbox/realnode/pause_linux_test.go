package realnode

import (
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"golang.org/x/sys/unix"
)

// TestBestEffortPodsArePaused: those of services go on.
func TestBestEffortPodsArePaused(t *testing.T) {
	m, n := newMachine(t), newNode(t)
	m.hierarchies(t, "cpu")
	batch, service := sleeper(t), sleeper(t)
	kubepods := filepath.Join("sys/fs/cgroup/cpu", n.CgroupParent(), "kubepods")
	m.write(t, filepath.Join(kubepods, "besteffort/pod1/cgroup.procs"), strconv.Itoa(batch)+"\n")
	m.write(t, filepath.Join(kubepods, "burstable/pod2/cgroup.procs"), strconv.Itoa(service)+"\n")
	must(t, m.PauseBestEffort(n))
	var status unix.WaitStatus
	if _, err := unix.Wait4(batch, &status, unix.WUNTRACED, nil); err != nil || !status.Stopped() {
		t.Errorf("the process of a best-effort pod has status %v, %v; want it stopped", status, err)
	}
	must(t, m.ResumeBestEffort(n))
	if _, err := unix.Wait4(batch, &status, unix.WCONTINUED, nil); err != nil || !status.Continued() {
		t.Errorf("the process of a best-effort pod has status %v, %v; want that it goes on", status, err)
	}
	if changed, err := unix.Wait4(service, &status, unix.WUNTRACED|unix.WNOHANG, nil); err != nil || changed != 0 {
		t.Errorf("the process of a service has status %v, %v; want that nothing was done to it", status, err)
	}
}

func TestWithoutBestEffortPodsNothingIsPaused(t *testing.T) {
	m, n := newMachine(t), newNode(t)
	m.hierarchies(t, "cpu")
	must(t, m.PauseBestEffort(n))
	must(t, m.ResumeBestEffort(n))
}

// sleeper starts a process that is killed at the end of the test, and returns its PID.
func sleeper(t *testing.T) int {
	t.Helper()
	cmd := exec.Command("sleep", "60")
	must(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // it was killed
	})
	return cmd.Process.Pid
}
