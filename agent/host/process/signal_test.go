package process

import (
	"os/exec"
	"syscall"
	"testing"
)

func TestSignalReachesTheProcessThatIsMeant(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), "sleep", "300")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if err := Signal(cmd.Process.Pid, syscall.SIGKILL, func() bool { return false }); err != nil {
		t.Error(err)
	}
	if err := cmd.Process.Signal(syscall.Signal(0)); err != nil {
		t.Errorf("a process that is not meant ended: %v", err)
	}
	if err := Signal(cmd.Process.Pid, syscall.SIGTERM, func() bool { return true }); err != nil {
		t.Error(err)
	}
	if err := cmd.Wait(); err == nil || cmd.ProcessState.Sys().(syscall.WaitStatus).Signal() != syscall.SIGTERM {
		t.Errorf("the process ended with %v", err)
	}
	if err := Signal(cmd.Process.Pid, syscall.SIGKILL, func() bool { return true }); err != nil {
		t.Errorf("a process that has ended: %v", err)
	}
}
