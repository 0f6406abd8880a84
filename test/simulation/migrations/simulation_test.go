package migrations

import (
	"flag"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

var (
	seedFlag  = flag.Uint64("seed", 0, "Simulate this seed only, and print its steps with -v.")
	seedsFlag = flag.Uint64("seeds", 1000, "How many seeds to simulate.")
	stepsFlag = flag.Int("steps", 300, "How many steps a seed takes.")
)

// simulate runs a seed. At its end all faults end, and every job has to.
func simulate(seed uint64) *world {
	w := newWorld(seed)
	defer func() {
		for _, d := range w.deschedulers {
			d.stop()
		}
	}()
	for range *stepsFlag {
		w.step()
		w.check()
		if len(w.problems) > 0 {
			return w
		}
	}
	w.calmDown()
	return w
}

// calmDown lets everybody do their work without faults, until all jobs have ended.
func (w *world) calmDown() {
	w.faulty = false
	for range 200 {
		if len(w.openJobs()) == 0 || len(w.problems) > 0 {
			return
		}
		for i := range w.deschedulers {
			w.sync(i)
			for range 5 {
				w.resume(i)
			}
		}
		w.stepJobs(100)
		w.controlDeployments()
		w.now = w.now.Add(10 * time.Second)
		w.check()
	}
	w.problem("%d jobs have not ended, or not released their Reservation", len(w.openJobs()))
}

// seeds simulates the seeds from 1 on, on all processors.
func seeds(count uint64) map[uint64]*world {
	var running sync.WaitGroup
	var mutex sync.Mutex
	worlds, stride := map[uint64]*world{}, uint64(runtime.GOMAXPROCS(0))
	for first := uint64(1); first <= stride; first++ {
		running.Go(func() {
			for seed := first; seed <= count; seed += stride {
				w := simulate(seed)
				w.server, w.deschedulers, w.trace = nil, nil, nil
				mutex.Lock()
				worlds[seed] = w
				mutex.Unlock()
			}
		})
	}
	running.Wait()
	return worlds
}

func TestBudgetsHoldForEverySeed(t *testing.T) {
	if *seedFlag > 0 {
		w := simulate(*seedFlag)
		t.Logf("seed %d:\n%s", *seedFlag, strings.Join(w.trace, "\n"))
		for _, problem := range w.problems {
			t.Error(problem)
		}
		return
	}
	began, admitted, moved, failed := time.Now(), 0, 0, 0
	for seed, w := range seeds(*seedsFlag) {
		admitted, moved = admitted+w.admitted, moved+w.moved
		if len(w.problems) == 0 {
			continue
		}
		if failed++; failed <= 10 {
			t.Errorf("seed %d, to replay with -seed %d -v:\n%s", seed, seed, strings.Join(w.problems, "\n"))
		}
	}
	if failed > 0 {
		t.Errorf("%d seeds failed", failed)
	}
	if least := 3 * int(*seedsFlag); admitted < least || moved < least/2 {
		t.Errorf("%d jobs were admitted and %d pods moved, want at least %d and %d: the simulation tries too little", admitted, moved, least, least/2)
	}
	t.Logf("%d seeds: %d jobs admitted, %d pods moved, in %s", *seedsFlag, admitted, moved, time.Since(began).Round(time.Millisecond))
}

func TestTheSameSeedHasTheSameTrace(t *testing.T) {
	for seed := uint64(1); seed <= 20; seed++ {
		if first, second := simulate(seed).trace, simulate(seed).trace; !slices.Equal(first, second) {
			t.Errorf("seed %d has two traces", seed)
		}
	}
}
