package simulation

import (
	libraries "math/rand"
	"net/http"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// perform takes the i-th call that waits, and lets it come out in one of the ways in which a write can.
func (w *world) perform(i int, how string) {
	c := w.calls[i]
	w.calls = append(w.calls[:i:i], w.calls[i+1:]...)
	w.note("%s: %s %s", c, how, c.sent)
	var got answer
	switch how {
	case "done":
		got = w.store.perform(c)
	case "conflict":
		got = conflict(c, "somebody else was faster")
	case "failed":
		got = failure(apierrors.NewInternalError(errLost))
	case "throttled":
		got = failure(apierrors.NewTooManyRequestsError("too many requests"))
	case "unknown, done":
		w.store.perform(c)
		got = answer{err: errLost}
	case "unknown, not done":
		got = answer{err: errLost}
	}
	if how == "done" && got.code >= http.StatusBadRequest {
		w.note("  refused: %d", got.code)
	}
	if got.code >= http.StatusBadRequest || got.err != nil {
		w.disturb(c)
	}
	c.answer <- got
	synctest.Wait()
	w.gather()
}

// jump sets the schedulers' clock forward or back, as everybody else sees it; or right again.
func (w *world) jump() {
	w.store.skew = pick(w.random, []time.Duration{0, 4 * time.Minute, -4 * time.Minute, time.Hour, -time.Hour})
	w.note("the clocks of others are %s ahead", w.store.skew)
}

// ways in which a write comes out, by their weights.
var ways = []struct {
	weight int
	how    string
}{{80, "done"}, {4, "conflict"}, {4, "failed"}, {2, "throttled"}, {6, "unknown, done"}, {4, "unknown, not done"}}

func (w *world) performOne() {
	if len(w.calls) == 0 {
		return
	}
	i := w.random.IntN(min(len(w.calls), 6))
	draw := w.random.IntN(100)
	for _, way := range ways {
		if draw -= way.weight; draw < 0 {
			w.perform(i, way.how)
			return
		}
	}
}

// seedLibraries lets the random numbers of libraries begin anew, as the step wants them. How many of them were drawn before
// depends on the order of goroutines.
func (w *world) seedLibraries() {
	//lint:ignore SA1019 libraries draw from it
	libraries.Seed(w.random.Int64())
}

// meanwhile is what happens while a watch is broken.
var meanwhile = []func(*world){
	(*world).createPod, (*world).deletePod, (*world).endPod, (*world).removeNode, (*world).createReservation, (*world).deleteReservation,
	(*world).changeNode, (*world).changeDevice, (*world).performSome, (*world).decideSome,
}

// cut breaks watches of the leader: one of them, or all. What happens in between may be forgotten. Clients come back after
// times that they draw, so nothing else happens before all are back.
func (w *world) cut() {
	open := w.store.open(w.live.client)
	if len(open) == 0 {
		return
	}
	count := len(open)
	if w.random.IntN(2) == 0 {
		open = []*watch{open[w.random.IntN(len(open))]}
	}
	forget := w.random.IntN(2) == 0
	w.note("%d watches break, history kept: %v", len(open), !forget)
	for _, one := range open {
		w.seedLibraries()
		one.end()
		synctest.Wait()
	}
	for range 1 + w.random.IntN(5) {
		pick(w.random, meanwhile)(w)
	}
	if forget {
		w.store.forget()
	}
	for w.gather(); len(w.calls) > 0; {
		w.perform(0, "done")
	}
	for range 20 {
		time.Sleep(2 * time.Second)
		if synctest.Wait(); len(w.store.open(w.live.client)) >= count {
			break
		}
	}
	w.flush()
}

// restart kills the leader. What it has sent is done or not, and it is unknown which; a new one takes over.
func (w *world) restart() {
	w.note("scheduler %s is killed", w.live.client)
	w.live.dead.Store(true)
	w.abandon()
	w.live.stop()
	w.takeOver()
}

// abandon drops or does the calls that wait.
func (w *world) abandon() {
	for len(w.calls) > 0 {
		how := "unknown, done"
		if w.random.IntN(2) == 0 {
			how = "unknown, not done"
		}
		c := w.calls[0]
		w.calls = w.calls[1:]
		w.note("%s: %s %s", c, how, c.sent)
		if how == "unknown, done" {
			w.store.perform(c)
		}
		w.disturb(c)
		c.answer <- answer{err: errLost}
	}
}

func (w *world) takeOver() {
	w.live = nil
	if err := w.lead(); err != nil {
		w.problem("%v", err)
	}
}
