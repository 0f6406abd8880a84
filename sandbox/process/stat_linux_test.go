package process

import (
	"os"
	"path/filepath"
	"testing"

	"koordinator.sh/koord/sandbox/process/processtest"
)

func TestStartTime(t *testing.T) {
	before := StartTime(os.Getpid())
	if before == 0 || StartTime(os.Getpid()) != before {
		t.Fatalf("StartTime() of the test = %d, then %d; want one time", before, StartTime(os.Getpid()))
	}
	cmd, _ := processtest.StartReady(t, "obedient")
	if later := StartTime(cmd.Process.Pid); later < before {
		t.Errorf("StartTime() of a child = %d; want it after %d, when its parent started", later, before)
	}
	if got := StartTime(1 << 30); got != 0 {
		t.Errorf("StartTime() of nobody = %d; want 0", got)
	}
}

// TestStartTimeOfAnOddName runs a program whose name looks like the fields that follow it.
func TestStartTimeOfAnOddName(t *testing.T) {
	odd := filepath.Join(t.TempDir(), "a) Z 1 (b")
	self, err := os.Executable()
	processtest.Must(t, err)
	processtest.Must(t, os.Symlink(self, odd))
	program := os.Args[0]
	os.Args[0] = odd
	defer func() { os.Args[0] = program }()
	cmd, _ := processtest.StartReady(t, "obedient")
	if p := identity(cmd); !Alive(p) {
		t.Errorf("%+v is not alive", p)
	}
}

func TestMemoryBytes(t *testing.T) {
	if got := MemoryBytes(os.Getpid()); got < 1<<20 || got > 1<<33 {
		t.Errorf("MemoryBytes() of the test = %d; want a plausible amount", got)
	}
	if got := MemoryBytes(1 << 30); got != 0 {
		t.Errorf("MemoryBytes() of nobody = %d; want 0", got)
	}
}
