package executor

import (
	"fmt"
	"runtime"
	"strconv"
	"testing"
	"time"

	"koordinator.sh/koord/agent/host/cgroup"
)

// crowd returns the values for many pods of two containers, newly allocated on each call, as features do.
func crowd(pods int) []DesiredValue {
	values := []DesiredValue{{Setting: cgroup.CPUQuota, Cgroup: bestEffort, Value: "400000", Why: "suppressed"}}
	for i := range pods {
		at := bestEffort + "/crowd" + strconv.Itoa(i)
		values = append(values, DesiredValue{Setting: cgroup.CPUIdle, Cgroup: at, Value: "1", Why: "yields"})
		for _, of := range []string{at, at + "/a", at + "/b"} {
			values = append(values, cpus("0-3", of)...)
			values = append(values,
				DesiredValue{Setting: cgroup.CPUQuota, Cgroup: of, Value: "50000", Why: fmt.Sprintf("limit of %d", 500)},
				DesiredValue{Setting: cgroup.MemoryLimit, Cgroup: of, Value: "1000000000", Why: "limit"})
		}
	}
	return values
}

// TestNothingIsWrittenAndNothingGrowsWhileNothingChanges takes many rounds, a second apart, on a node of 60 pods. Values are read again
// once a minute.
func TestNothingIsWrittenAndNothingGrowsWhileNothingChanges(t *testing.T) {
	onBoth(t, func(f *fixture) {
		const pods, rounds = 60, 600
		for i := range pods {
			for _, name := range []string{"a", "b"} {
				f.kernel.Make(bestEffort + "/crowd" + strconv.Itoa(i) + "/" + name)
			}
		}
		round := func() {
			f.clock.Step(time.Second)
			f.declare("first", crowd(pods)...)
			if outcome, err := f.executor.Apply(f.Context()); err != nil || outcome.Err() != nil {
				t.Fatal(err, outcome.Err())
			}
		}
		for range 2 * int(verifyInterval/time.Second) {
			round()
		}
		_, writes := f.kernel.Counts()
		audited, before := f.log.Last(), heap()
		for range rounds {
			round()
		}
		if grown := int64(heap()) - int64(before); grown > 256<<10 {
			t.Errorf("%d bytes more are in use after %d rounds", grown, rounds)
		}
		if _, after := f.kernel.Counts(); after != writes || f.log.Last() != audited {
			t.Errorf("%d writes, and %d entries in the audit log", after-writes, f.log.Last()-audited)
		}
		if allocations := testing.AllocsPerRun(20, func() { f.apply(0, 0) }); allocations > 2 {
			t.Errorf("a round allocates %g times", allocations)
		}
	})
}

// heap is how many bytes are in use after a collection.
func heap() uint64 {
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc
}
