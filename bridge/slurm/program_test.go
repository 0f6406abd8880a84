package slurm

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// programs puts a script into the place of each of Slurm's programs.
func programs(t *testing.T, script string) *Engine {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"scontrol", "squeue", "scancel"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+script), 0o700); err != nil { //nolint:gosec // it is to be run
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	return NewEngine(Options{PartitionPrefix: DefaultPartitionPrefix, Timeout: 2 * time.Second})
}

// TestProgramsThatFail are errors that say what failed, within the timeout.
func TestProgramsThatFail(t *testing.T) {
	tests := map[string]struct {
		script  string
		timeout time.Duration
		wantErr string
	}{
		"a controller that is down": {script: "echo 'slurm_load_ctl_conf error: Unable to contact slurm controller' >&2; exit 1", wantErr: "Unable to contact slurm controller"},
		"a program that hangs":      {script: "exec sleep 60", timeout: 100 * time.Millisecond, wantErr: "no answer within 100ms"},
		"an answer that is cut off": {script: "case $* in *config) echo MaxMemPerCPU = 10; echo DefMemPerCPU = 10;; *) echo NodeName=n1 PartitionName=p MaxCPUsPerNode=1 CPUTo;; esac", wantErr: "want a number"},
		"no memory of a CPU":        {script: "echo ClusterName = x", wantErr: "slurm.conf must set MaxMemPerCPU"},
		"an endless answer":         {script: "exec yes 0123456789012345678901234567890123456789", timeout: 20 * time.Second, wantErr: "printed more than 64 MiB"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			e := programs(t, test.script)
			if test.timeout > 0 {
				e.commands.timeout = test.timeout
			}
			if _, err := e.Observe(t.Context()); err == nil || !strings.Contains(err.Error(), test.wantErr) {
				t.Errorf("Observe() = %v, want %q", err, test.wantErr)
			}
		})
	}
	t.Run("no program", func(t *testing.T) {
		t.Setenv("PATH", t.TempDir())
		_, err := NewEngine(Options{Timeout: time.Second}).Observe(t.Context())
		if !errors.Is(err, os.ErrNotExist) && (err == nil || !strings.Contains(err.Error(), "executable file not found")) {
			t.Errorf("Observe() = %v, want that there is no program", err)
		}
	})
}
