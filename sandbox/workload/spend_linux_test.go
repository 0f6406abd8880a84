package workload

import (
	"runtime"
	"testing"
	"time"
)

// TestSpendUsesTheCPUTimeItIsTold, however long that takes on a busy machine.
func TestSpendUsesTheCPUTimeItIsTold(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for _, amount := range []time.Duration{0, time.Millisecond, 20 * time.Millisecond} {
		before := threadTime()
		spend(amount)
		if used := threadTime() - before; used < amount || used > amount+10*time.Millisecond {
			t.Errorf("spend(%s) used %s of CPU time", amount, used)
		}
	}
}
