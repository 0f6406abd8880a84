package simulation

import (
	"flag"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

var (
	seedFlag     = flag.Uint64("seed", 0, "Simulate this seed only, and print its steps with -v.")
	seedsFlag    = flag.Uint64("seeds", 1000, "How many seeds to simulate.")
	fromFlag     = flag.Uint64("from", 1, "The first seed to simulate.")
	minimiseFlag = flag.Bool("minimise", false, "Leave out steps of the seed without which it fails, too.")
	stepsFlag    = flag.Int("steps", 100, "How many steps a seed takes.")
)

func allSteps() []int {
	steps := make([]int, *stepsFlag)
	for i := range steps {
		steps[i] = i
	}
	return steps
}

// seeds simulates many seeds, on all processors.
func seeds(t *testing.T, from, to uint64) []report {
	children := uint64(runtime.NumCPU())
	reports := make([][]report, children)
	var running sync.WaitGroup
	for i := range children {
		running.Go(func() {
			reports[i] = dispatch(t, order{From: from + i, To: to, Stride: children, Steps: allSteps()})
		})
	}
	running.Wait()
	var all []report
	for _, some := range reports {
		all = append(all, some...)
	}
	return all
}

func TestInvariantsHoldForEverySeed(t *testing.T) {
	if *seedFlag > 0 {
		replay(t, *seedFlag)
		return
	}
	began := time.Now()
	var decisions, bindings, allocations int
	var failed []uint64
	for _, r := range seeds(t, *fromFlag, *fromFlag+*seedsFlag) {
		decisions, bindings, allocations = decisions+r.Decisions, bindings+r.Bindings, allocations+r.Allocations
		if len(r.Problems) == 0 {
			continue
		}
		if failed = append(failed, r.Seed); len(failed) <= 10 {
			t.Errorf("seed %d, to replay with -run %s -seed %d -v:\n%s", r.Seed, t.Name(), r.Seed, strings.Join(r.Problems, "\n"))
		}
	}
	if len(failed) > 0 {
		t.Errorf("%d seeds failed: %v", len(failed), failed)
	}
	t.Logf("%d seeds: %d decisions, %d bindings, %d of them with CPUs, zones or devices, in %s", *seedsFlag, decisions, bindings, allocations, time.Since(began).Round(time.Second))
}

func replay(t *testing.T, seed uint64) {
	steps := allSteps()
	if *minimiseFlag {
		steps = minimise(t, seed, steps)
	}
	for _, r := range dispatch(t, order{From: seed, To: seed + 1, Stride: 1, Steps: steps, Trace: true}) {
		t.Logf("seed %d, trace %s:\n%s", seed, r.Hash, strings.Join(r.Trace, "\n"))
		for _, problem := range r.Problems {
			t.Error(problem)
		}
	}
}

// minimise leaves out steps, many at a time at first, as long as something is wrong without them.
func minimise(t *testing.T, seed uint64, steps []int) []int {
	fails := func(steps []int) bool {
		reports := dispatch(t, order{From: seed, To: seed + 1, Stride: 1, Steps: steps})
		return len(reports) == 0 || len(reports[0].Problems) > 0
	}
	if !fails(steps) {
		return steps
	}
	for size := len(steps) / 2; size > 0; size /= 2 {
		for from := 0; from+size <= len(steps); {
			if fewer := slices.Delete(slices.Clone(steps), from, from+size); fails(fewer) {
				steps = fewer
			} else {
				from += size
			}
		}
	}
	t.Logf("seed %d fails with %d steps: %v", seed, len(steps), steps)
	return steps
}

func TestTheSameSeedHasTheSameTrace(t *testing.T) {
	const count = 20
	first, second := map[uint64]string{}, map[uint64]string{}
	for _, r := range seeds(t, 1, 1+count) {
		first[r.Seed] = r.Hash
	}
	for _, r := range seeds(t, 1, 1+count) {
		second[r.Seed] = r.Hash
	}
	for seed, want := range first {
		if second[seed] != want {
			mostlyTheSame(t, seed, want, second[seed])
		}
	}
}

// mostlyTheSame runs a seed whose traces differ five more times: most of the traces must be the same. On a busy machine, single runs may
// differ: the Go runtime makes a goroutine yield after 10 ms of wall time, which asyncpreemptoff does not turn off, and time in which the
// operating system runs other processes counts.
func mostlyTheSame(t *testing.T, seed uint64, traces ...string) {
	t.Helper()
	for range 5 {
		for _, r := range dispatch(t, order{From: seed, To: seed + 1, Stride: 1}) {
			traces = append(traces, r.Hash)
		}
	}
	counts := map[string]int{}
	for _, trace := range traces {
		counts[trace]++
	}
	if most := slices.Max(slices.Collect(maps.Values(counts))); most < 5 {
		t.Errorf("seed %d: %d of %d runs have the same trace: %v", seed, most, len(traces), traces)
	}
}
