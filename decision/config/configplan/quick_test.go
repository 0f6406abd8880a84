//go:build !race

// The race detector takes several times the CPU time that is measured here.

package configplan

import (
	"syscall"
	"testing"
	"time"
)

// TestPlanOf5000NodesIsQuick keeps the plan of a large cluster well under the three seconds a person waits for it. CPU time
// is measured, of all CPUs together, so that a busy machine does not fail it.
func TestPlanOf5000NodesIsQuick(t *testing.T) {
	if testing.Short() {
		t.Skip("needs a large cluster")
	}
	in := benchInput(t)
	before := cpuTime(t)
	plan := Of(in)
	if took := cpuTime(t) - before; took > 3*time.Second {
		t.Errorf("planning took %s of CPU", took)
	}
	if plan.Summary.NodesAffected != 5000 || *plan.Summary.NodesUnconverged != 0 {
		t.Errorf("summary %+v", plan.Summary)
	}
}

func cpuTime(t *testing.T) time.Duration {
	t.Helper()
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		t.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
