package thirdparty_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"koordinator.sh/koord/decision/noderesource/thirdparty"
)

const (
	histories = 1000
	// tick of a history, and how many it has.
	tick, ticks = 50 * time.Millisecond, 2400
	// viewLag and bindLag are the most that a scheduler's view of a node is old, and that a binding takes to be seen, in ticks;
	// together they are less than Args.Settle.
	viewLag, bindLag = 2, 3
	// engineLag is the most that the engine takes to apply a capacity.
	engineLag = 20
	// deadline of containers that no longer fit.
	deadline = 100
)

// world is a node with pods and an engine, with the delays that there are between them.
type world struct {
	args   thirdparty.Args
	random *rand.Rand
	now    int
	// origins is what services left to batch at each tick.
	origins []thirdparty.Amount
	// published is what the manager has written of the node, by tick: pods are placed by what it was up to viewLag ticks ago.
	published []offer
	taken     thirdparty.Amount
	pods      []*work
	engine    engine
	memory    thirdparty.Memory
	input     thirdparty.Input
}

type offer struct{ origin, offered thirdparty.Amount }

// work is a pod or a container.
type work struct {
	size thirdparty.Amount
	// ends is the tick at which it ends, seen that at which others see it begin, or end.
	ends, seen int
}

// engine applies the capacities that it was sent, one after the other.
type engine struct {
	capacity   thirdparty.Amount
	inbox      []message
	containers []*work
	overSince  int
}

type message struct {
	capacity thirdparty.Amount
	at       int
}

func sum(works []*work, counts func(*work) bool) (total thirdparty.Amount) {
	for _, w := range works {
		if counts(w) {
			total = total.Add(w.size)
		}
	}
	return total
}

func fits(a, in thirdparty.Amount) bool { return a.MilliCPU <= in.MilliCPU && a.Memory <= in.Memory }

// TestNothingIsGivenAwayTwice: in histories in which services, pods, containers and processes come and go, with every message late, no
// pod and no container starts on resources that the other side uses; a restart of the bridge changes nothing of that.
func TestNothingIsGivenAwayTwice(t *testing.T) {
	for name, args := range map[string]thirdparty.Args{"counted apart": args, "counted in units of both": paired} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			play(t, args)
		})
	}
}

func play(t *testing.T, args thirdparty.Args) {
	started := 0
	for seed := range uint64(histories) {
		w := &world{args: args, random: rand.New(rand.NewPCG(seed, 1)), published: []offer{{}}}
		for w.now = range ticks {
			w.services()
			w.manager()
			w.engineTurn()
			w.podsTurn()
			w.bridge()
			started += w.start(t, seed)
			if t.Failed() {
				return
			}
		}
	}
	if started < histories*20 {
		t.Errorf("only %d pods and containers started in %d histories", started, histories)
	}
}

func (w *world) services() {
	origin := of(16, 32)
	if w.now > 0 {
		origin = w.origins[w.now-1]
	}
	if w.random.IntN(100) == 0 {
		origin = thirdparty.Amount{MilliCPU: w.random.Int64N(32_000), Memory: w.random.Int64N(64 * gib)}
	}
	w.origins = append(w.origins, origin)
}

// manager writes what the node offers, sometimes late.
func (w *world) manager() {
	last := w.published[len(w.published)-1]
	if w.random.IntN(3) == 0 {
		origin := w.origins[w.now]
		last = offer{origin: origin, offered: thirdparty.Amount{
			MilliCPU: max(origin.MilliCPU-w.taken.MilliCPU, 0), Memory: max(origin.Memory-w.taken.Memory, 0)}}
	}
	w.published = append(w.published, last)
}

func (w *world) engineTurn() {
	e := &w.engine
	for len(e.inbox) > 0 && e.inbox[0].at <= w.now {
		e.capacity, e.inbox = e.inbox[0].capacity, e.inbox[1:]
	}
	e.containers = w.running(e.containers)
	if fits(sum(e.containers, always), e.capacity) {
		e.overSince = w.now
	}
	for w.now-e.overSince > deadline && len(e.containers) > 0 && !fits(sum(e.containers, always), e.capacity) {
		e.containers = e.containers[1:]
	}
}

func (w *world) podsTurn() { w.pods = w.running(w.pods) }

func always(*work) bool { return true }

func (w *world) running(works []*work) (left []*work) {
	for _, one := range works {
		if one.ends > w.now {
			left = append(left, one)
		}
	}
	return left
}

// bridge decides, and carries out what it decided.
func (w *world) bridge() {
	if w.random.IntN(300) == 0 {
		w.memory = thirdparty.Memory{} // it was started anew
	}
	if w.random.IntN(3) == 0 {
		return
	}
	seen := w.published[len(w.published)-1]
	allocated := sum(w.engine.containers, always)
	if resized := len(w.engine.inbox) > 0 && w.engine.inbox[0].at == w.now+1; resized {
		allocated = thirdparty.Amount{} // as YARN shows a node that is being resized, for an instant
	}
	w.input = thirdparty.Input{
		Origin: seen.origin, Offered: seen.offered, Taken: w.taken,
		Pods:        sum(w.pods, func(p *work) bool { return p.seen <= w.now }),
		Capacity:    w.engine.capacity,
		Allocated:   allocated,
		Claimed:     w.random.IntN(2) == 0,
		EngineWaits: w.random.IntN(2) == 0,
		Stopped:     w.random.IntN(50) == 0,
		Now:         start.Add(time.Duration(w.now) * tick),
	}
	verdict := thirdparty.Decide(w.input, w.args, w.memory, nil)
	w.memory, w.taken = verdict.Memory, verdict.Taken
	if verdict.Send {
		w.send(verdict.Capacity)
	}
}

// send reaches the engine late, in order, or never.
func (w *world) send(capacity thirdparty.Amount) {
	if w.random.IntN(10) == 0 {
		w.memory.Failed = w.random.IntN(2) == 0
		if w.memory.Failed || w.random.IntN(2) == 0 {
			return
		}
	}
	at := w.now + w.random.IntN(engineLag)
	if n := len(w.engine.inbox); n > 0 {
		at = max(at, w.engine.inbox[n-1].at)
	}
	w.engine.inbox = append(w.engine.inbox, message{capacity: capacity, at: at})
}

// start starts a pod and a container where their side has room for them.
func (w *world) start(t *testing.T, seed uint64) (started int) {
	size := func() *work {
		return &work{
			size: thirdparty.Amount{MilliCPU: 1 + w.random.Int64N(8_000), Memory: 1 + w.random.Int64N(16*gib)},
			ends: w.now + 20 + w.random.IntN(600), seen: w.now + w.random.IntN(bindLag+1),
		}
	}
	if w.random.IntN(4) == 0 {
		view := w.published[max(len(w.published)-1-w.random.IntN(viewLag+1), 0)]
		pod := size()
		if fits(sum(w.pods, always).Add(pod.size), view.offered) {
			w.pods, started = append(w.pods, pod), started+1
			w.check(t, seed, "pod")
		}
	}
	if container := size(); w.random.IntN(4) == 0 && fits(sum(w.engine.containers, always).Add(container.size), w.engine.capacity) {
		w.engine.containers, started = append(w.engine.containers, container), started+1
		w.check(t, seed, "container")
	}
	return started
}

// check compares what runs with the most that there was lately: a node that has just lost resources is everybody's loss.
func (w *world) check(t *testing.T, seed uint64, started string) {
	t.Helper()
	var most thirdparty.Amount
	for _, origin := range w.origins[max(w.now-int(args.Confirm/tick), 0):] {
		most = thirdparty.Amount{MilliCPU: max(most.MilliCPU, origin.MilliCPU), Memory: max(most.Memory, origin.Memory)}
	}
	if run := sum(w.pods, always).Add(sum(w.engine.containers, always)); !fits(run, most) {
		t.Errorf("seed %d, tick %d: a %s started, and %+v is used of %+v (pods %+v, capacity %+v, input %+v)",
			seed, w.now, started, run, most, sum(w.pods, always), w.engine.capacity, w.input)
	}
}
