package sandboxtest

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"
)

// Pause stops a process as a machine that hangs does, until somebody sends it SIGCONT. When it returns no thread of the process runs:
// kill(2) returns when the signal is sent, and on a busy machine the threads work on until one of them has taken it.
func Pause(t testing.TB, pid int) {
	t.Helper()
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		t.Fatalf("stop process %d: %v", pid, err)
	}
	Eventually(t, 10*time.Second, func() error { return stopped(pid) })
}

// stopped says which thread of a process still runs.
func stopped(pid int) error {
	threads, err := filepath.Glob(filepath.Join("/proc", strconv.Itoa(pid), "task/*/stat"))
	if err != nil {
		return err
	}
	if len(threads) == 0 {
		return fmt.Errorf("process %d has ended", pid)
	}
	for _, thread := range threads {
		stat, err := os.ReadFile(thread)
		if errors.Is(err, fs.ErrNotExist) {
			continue // it ended
		}
		if err != nil {
			return err
		}
		// The state follows the name in parentheses, which may contain any character, see proc_pid_stat(5).
		if state := bytes.TrimSpace(stat[bytes.LastIndexByte(stat, ')')+1:]); !bytes.HasPrefix(state, []byte("T")) {
			return fmt.Errorf("%s is not stopped: %.20q", thread, state)
		}
	}
	return nil
}
