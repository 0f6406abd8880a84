package main

import (
	"errors"
	"os"
	"path/filepath"
)

// newStatistics makes a tree like /proc of a machine on which the system itself uses nothing: what else this machine does, other
// tests for one, would be taken from the budget of best-effort pods, and measured with it. What pods use comes from their cgroups.
func newStatistics(directory string) error {
	if err := os.Mkdir(directory, 0o755); err != nil {
		return err
	}
	problems := []error{os.WriteFile(filepath.Join(directory, "stat"), []byte("cpu  0 0 0 0 0 0 0 0 0 0\n"), 0o600)}
	for _, name := range []string{"meminfo", "cpuinfo"} {
		content, err := os.ReadFile(filepath.Join("/proc", name))
		if err == nil {
			err = os.WriteFile(filepath.Join(directory, name), content, 0o600)
		}
		problems = append(problems, err)
	}
	return errors.Join(problems...)
}
