package coresched

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
	"testing"

	"koordinator.sh/koord/agent/host/files"
)

// TestTheRunningKernel asks the kernel that runs the test: one without core scheduling says EINVAL, and one without shared cores
// ENODEV, where the imitation says the same.
func TestTheRunningKernel(t *testing.T) {
	proc, err := files.NewReal("/proc")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = proc.Close() }()
	kernel := Real{Proc: proc}
	err = kernel.Session(func(caller Caller) error {
		_, err := caller.Call(Get, 0, Thread)
		return err
	})
	if err != nil && !errors.Is(err, syscall.EINVAL) && !errors.Is(err, syscall.ENODEV) {
		t.Errorf("reading the own cookie: %v", err)
	}
	t.Logf("core scheduling here: %v", Supported(kernel))
}

// TestAThreadThatEndsIsNotTheSame holds by both ways that there are.
func TestAThreadThatEndsIsNotTheSame(t *testing.T) {
	proc, err := files.NewReal("/proc")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = proc.Close() }()
	kernel := Real{Proc: proc}
	for name, pin := range map[string]func(int) (func() bool, func(), error){"by what the kernel has": kernel.Pin, "by its start": kernel.pinByStart} {
		t.Run(name, func(t *testing.T) {
			process := exec.Command("sleep", "60")
			if err := process.Start(); err != nil {
				t.Skip(err)
			}
			same, release, err := pin(process.Process.Pid)
			if err != nil {
				t.Fatal(err)
			}
			defer release()
			if !same() {
				t.Error("a process that runs is not the same")
			}
			_ = process.Process.Kill()
			_ = process.Wait() // it was killed
			if same() {
				t.Error("a process that has ended is the same")
			}
			if _, _, err := pin(process.Process.Pid); !errors.Is(err, syscall.ESRCH) {
				t.Errorf("holding a process that has ended: %v", err)
			}
		})
	}
	if same, release, err := kernel.Pin(os.Getpid()); err != nil || !same() {
		t.Errorf("the test itself: %v", err)
	} else {
		release()
	}
}
