package sandboxtest

import (
	"errors"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"testing"
	"time"
)

// busyVariable makes the test program a process whose threads are all busy.
const busyVariable = "SANDBOXTEST_BUSY"

func TestMain(m *testing.M) {
	if os.Getenv(busyVariable) != "" {
		for range 4 * runtime.GOMAXPROCS(4) {
			go func() {
				runtime.LockOSThread()
				for {
					runtime.Gosched()
				}
			}()
		}
		select {}
	}
	os.Exit(m.Run())
}

func TestNoThreadOfAPausedProcessRuns(t *testing.T) {
	busy := exec.CommandContext(t.Context(), os.Args[0])
	busy.Env = append(os.Environ(), busyVariable+"=1")
	if err := busy.Start(); err != nil {
		t.Fatal(err)
	}
	pid := busy.Process.Pid
	for range 20 {
		Eventually(t, 10*time.Second, func() error {
			if stopped(pid) == nil {
				return errors.New("the process is still stopped")
			}
			return nil
		})
		Pause(t, pid)
		if err := stopped(pid); err != nil {
			t.Error(err)
		}
		if err := busy.Process.Signal(syscall.SIGCONT); err != nil {
			t.Fatal(err)
		}
	}
	if err := busy.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = busy.Wait() // it was killed
	if stopped(pid) == nil {
		t.Error("a process that ended is taken for one that is stopped")
	}
}
