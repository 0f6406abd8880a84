package simulation

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing/synctest"
	"time"

	"koordinator.sh/koord/test/invariants"
)

// world is one cluster with one seed: its API server, its scheduler and what is wrong with them.
type world struct {
	seed   uint64
	random *rand.Rand
	store  *store
	// live is the scheduler that leads; nil when none could be started.
	live *process
	// calls wait at the API server, in the order in which they are to be distinguished.
	calls    []*call
	watching *connection
	watcher  *invariants.Watcher
	// flushed is when everybody had seen everything the last time.
	flushed time.Time
	// number of objects made so far, for their names, and of processes.
	number, processes int
	// disturbed gangs lost a member, or a place for one, while they were bound.
	disturbed map[string]bool
	// edited pods may be bound by what they asked for before.
	edited    map[string]bool
	trace     []string
	decisions int
	problems  []string
}

// outcome of a seed.
type outcome struct {
	seed      uint64
	steps     []int
	trace     []string
	decisions int
	seen      invariants.Seen
	problems  []string
}

// hash of the trace: the same for every run of a seed.
func (o outcome) hash() string {
	sum := sha256.Sum256([]byte(strings.Join(o.trace, "\n")))
	return hex.EncodeToString(sum[:8])
}

// simulate runs some steps of a seed. It must be called in a bubble of synctest.
func simulate(seed uint64, steps []int) outcome {
	w := &world{seed: seed, random: rand.New(rand.NewPCG(seed, 0)), store: newStore(), flushed: time.Now(), disturbed: map[string]bool{}, edited: map[string]bool{}}
	if err := w.begin(); err != nil {
		return outcome{seed: seed, steps: steps, problems: []string{err.Error()}}
	}
	for _, i := range steps {
		w.random = rand.New(rand.NewPCG(seed, uint64(i)+1))
		w.seedLibraries()
		w.step()
		if len(w.problems) > 0 {
			break
		}
	}
	if len(w.problems) == 0 {
		w.calm()
	}
	if len(w.problems) == 0 {
		w.compare()
	}
	w.check()
	w.end()
	return outcome{seed: seed, steps: steps, trace: w.trace, decisions: w.decisions, seen: w.watcher.Seen(), problems: w.problems}
}

func (w *world) note(format string, args ...any) {
	w.trace = append(w.trace, fmt.Sprintf("%s ", time.Now().Format("15:04:05.000"))+fmt.Sprintf(format, args...))
}

func (w *world) problem(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if !slices.Contains(w.problems, text) {
		w.problems = append(w.problems, text)
		w.note("VIOLATION %s", text)
	}
}

func (w *world) begin() error {
	w.furnish()
	w.watching = &connection{client: "watcher", store: w.store, prompt: true}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	var err error
	if w.watcher, err = invariants.Watch(ctx, w.watching.config()); err != nil {
		return err
	}
	return w.lead()
}

// lead starts a scheduler, which leads from then on.
func (w *world) lead() error {
	w.processes++
	w.note("scheduler %c starts", 'a'+w.processes-1)
	p, err := start(string(rune('a'+w.processes-1)), w.store)
	if err != nil {
		return err
	}
	w.live = p
	w.gather()
	return nil
}

func (w *world) end() {
	if w.live != nil {
		w.live.stop()
	}
	w.watching.dead.Store(true)
	for _, open := range w.store.open("watcher") {
		open.end()
	}
	w.watcher.Stop()
	time.Sleep(2 * time.Second) // what flushes metrics every second ends by itself
	synctest.Wait()
}

// gather takes the calls that arrived. Those that arrived together are put in an order of their own, because the order in
// which goroutines run is not guaranteed.
func (w *world) gather() {
	synctest.Wait()
	if w.live == nil {
		return
	}
	arrived := w.live.take()
	slices.SortStableFunc(arrived, func(a, b *call) int {
		return strings.Compare(a.String()+string(a.sent), b.String()+string(b.sent))
	})
	w.calls = append(w.calls, arrived...)
}

// check asks the watcher what did not hold.
func (w *world) check() {
	synctest.Wait()
	for _, v := range w.watcher.Violations() {
		if v.Invariant == invariants.GangWhole && w.disturbed[strings.TrimPrefix(v.Subject, "gang ")] {
			continue
		}
		if v.Invariant == invariants.AllocationAgrees && w.edited[strings.TrimPrefix(v.Subject, "pod ")] {
			continue
		}
		w.problem("%s", v)
	}
}

// write stores an object that somebody else than a scheduler wrote.
func (w *world) write(k kind, key string, typed any) {
	encoded, err := json.Marshal(typed)
	if err != nil {
		panic(err)
	}
	content := decode(encoded)
	if before := w.store.get(k, key); before != nil {
		for _, field := range []string{"uid", "generation", "creationTimestamp"} {
			content["metadata"].(map[string]any)[field] = before.meta()[field]
		}
	} else {
		content["metadata"].(map[string]any)["creationTimestamp"] = w.store.now().UTC().Format(time.RFC3339)
	}
	w.store.put(k, key, content)
	synctest.Wait() // the watcher sees what is of several kinds in its order
}

// remove deletes an object that somebody else than a scheduler wrote.
func (w *world) remove(k kind, key string) {
	w.store.remove(k, key)
	synctest.Wait()
}

// edit changes an object in place.
func edit[T any](w *world, k kind, key string, change func(*T)) {
	found := w.store.get(k, key)
	if found == nil {
		return
	}
	typed := into[T](found)
	change(typed)
	w.write(k, key, typed)
}

var errLost = errors.New("connection reset by peer")

// flush lets everybody see everything, and performs everything that waits.
func (w *world) flush() {
	for range 10000 {
		w.gather()
		moved := false
		for _, open := range w.store.open(w.live.client) {
			for range open.held() {
				open.deliver(1)
				synctest.Wait()
				time.Sleep(time.Microsecond)
				moved = true
			}
		}
		synctest.Wait()
		w.gather()
		if len(w.calls) > 0 {
			w.perform(0, "done")
			time.Sleep(200 * time.Microsecond)
			moved = true
		}
		if !moved {
			w.flushed = time.Now()
			w.considered()
			return
		}
	}
	w.problem("the scheduler writes without end")
}

// pass lets time pass. What there is to hold is known to everybody in good time.
func (w *world) pass(d time.Duration) {
	if time.Since(w.flushed)+d > 3*time.Second {
		w.flush()
	}
	time.Sleep(d)
	w.gather()
}
