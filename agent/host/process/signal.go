package process

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// Signal gives a signal to a process, and to none that has its number since: the process is held before it is asked whether it is still
// the one that is meant. A process that has ended, or is not meant any more, is no error.
func Signal(pid int, signal syscall.Signal, meant func() bool) error {
	process, err := os.FindProcess(pid)
	if err != nil {
		return fmt.Errorf("find process %d: %w", pid, err)
	}
	defer func() { _ = process.Release() }() // nothing else is held
	if !meant() {
		return nil
	}
	if err := process.Signal(signal); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("send %s to process %d: %w", signal, pid, err)
	}
	return nil
}
