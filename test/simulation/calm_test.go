package simulation

import (
	"time"

	fwk "k8s.io/kube-scheduler/framework"
)

// endless is more decisions than the pods of a world need before time passes.
const endless = 300

// patience is how long members of a gang may wait for others that do not come. It is more than they wait by default.
const patience = 11 * time.Minute

// calm ends all faults, and waits until half a minute has passed without that anything got a place, and no pod holds a place
// while it waits for the rest of its gang.
func (w *world) calm() {
	w.note("calm")
	w.store.skew = 0
	began, quiet := time.Now(), time.Now()
	before := w.store.placed()
	for {
		if !w.exhaust() {
			return
		}
		if after := w.store.placed(); after != before {
			before, quiet = after, time.Now()
		}
		pause := 2500 * time.Millisecond
		if time.Since(quiet) > 30*time.Second {
			if !w.live.holdsBack() {
				break
			}
			pause = 20 * time.Second
		}
		if time.Since(began) > patience {
			w.problem("there is no end to what the scheduler does")
			return
		}
		w.pass(pause)
	}
	w.check()
}

// exhaust lets the leader decide about all pods that it has something to decide about; false when that has no end.
func (w *world) exhaust() bool {
	w.flush()
	for range endless {
		if !w.decide(w.live) {
			return true
		}
		w.flush()
	}
	w.problem("the scheduler decides without a pause, %d times so far", endless)
	return false
}

// holdsBack reports whether pods have a place, and wait for the rest of their gang.
func (p *process) holdsBack() bool {
	waits := false
	for _, profile := range p.Scheduler.Profiles {
		profile.IterateOverWaitingPods(func(fwk.WaitingPod) { waits = true })
	}
	return waits
}

// placed is the last revision at which a pod came, went or got a node, or a Reservation changed.
func (s *store) placed() uint64 {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.lastPlaced
}
