package process

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"koordinator.sh/koord/test/eventually"
)

func start(t *testing.T, script string) *Process {
	t.Helper()
	p, err := Start(t.Context(), "shell", filepath.Join(t.TempDir(), "log"), "/bin/sh", "-c", script)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestWhatAProcessUsesIsRead(t *testing.T) {
	p := start(t, "echo begun; while :; do :; done")
	eventually.True(t, "the log", func() bool { return p.Tail() == "begun\n" })
	eventually.True(t, "processor time", func() bool {
		used, err := p.CPU()
		if err != nil {
			t.Fatal(err)
		}
		return used >= 20*time.Millisecond
	})
	peak, err := p.PeakMiB()
	if err != nil || peak < 0.1 || peak > 100 {
		t.Errorf("the largest resident set of a shell is %g MiB, %v", peak, err)
	}
	proportional, err := p.ProportionalMiB()
	if err != nil || proportional <= 0 || proportional > peak {
		t.Errorf("its proportional set is %g MiB of %g, %v", proportional, peak, err)
	}
	if err := p.Stop(); err != nil {
		t.Error(err)
	}
	if _, err := p.CPU(); err == nil {
		t.Error("a process that was stopped still uses the processor")
	}
}

func TestAProcessThatDoesNotStartIsAnError(t *testing.T) {
	_, err := Start(t.Context(), "nothing", filepath.Join(t.TempDir(), "log"), "/does/not/exist")
	if err == nil || !strings.Contains(err.Error(), "start nothing") {
		t.Errorf("error is %v", err)
	}
}

func TestFreePortsDiffer(t *testing.T) {
	ports, err := FreePorts(20)
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(ports)
	if different := slices.Compact(slices.Clone(ports)); len(different) != 20 || ports[0] < 1 {
		t.Errorf("ports are %v", ports)
	}
}
