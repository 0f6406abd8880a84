package state

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// Process identifies a running process beyond its number, which the kernel gives away again.
type Process struct {
	// Component it runs.
	Component string `json:"component"`
	// PID of the process, which also leads its own process group.
	PID int `json:"pid"`
	// StartTime in clock ticks since boot, as /proc/PID/stat has it; 0 where that is not known.
	StartTime uint64 `json:"startTime"`
}

// WriteProcesses stores which processes belong to the sandbox, so that they can be found after the supervisor died.
func (d Dir) WriteProcesses(processes []Process) error {
	return writeJSON(d.processesFile(), processes)
}

// ForgetProcesses removes what WriteProcesses stored. It needs no disk space, so it works where the disk is full.
func (d Dir) ForgetProcesses() error {
	if err := os.Remove(d.processesFile()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove the process list of the sandbox: %w", err)
	}
	return nil
}

// ReadProcesses returns the processes of the last run; none when there was no run.
func (d Dir) ReadProcesses() ([]Process, error) {
	var processes []Process
	err := readJSON(d.processesFile(), &processes)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return processes, err
}
