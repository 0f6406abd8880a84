package process

import (
	"os"
	"path/filepath"
	"testing"
)

func TestStartTime(t *testing.T) {
	before := StartTime(os.Getpid())
	if before == 0 || StartTime(os.Getpid()) != before {
		t.Fatalf("StartTime() of the test = %d, then %d; want one time", before, StartTime(os.Getpid()))
	}
	if later := StartTime(start(t, "obedient").Process.Pid); later < before {
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
	must(t, err)
	must(t, os.Symlink(self, odd))
	program := os.Args[0]
	os.Args[0] = odd
	defer func() { os.Args[0] = program }()
	if p := identity(start(t, "obedient")); !Alive(p) {
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
