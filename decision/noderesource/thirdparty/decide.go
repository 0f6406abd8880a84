package thirdparty

import (
	"time"

	"koordinator.sh/koord/decision/core/waterfall"
)

// Reason says why an engine has the capacity that it has on a node.
type Reason string

const (
	// Share is the capacity that the engine's share gives it.
	Share Reason = "Share"
	// Shrunk is a capacity that was reduced at once, because pods or services need the resources.
	Shrunk Reason = "Shrunk"
	// Settling is a capacity that grows once the node has offered less to pods for long enough.
	Settling Reason = "Settling"
	// Waiting is a capacity whose change is small, or comes too soon after the one before.
	Waiting Reason = "Waiting"
	// Exhausted is a node on which pods and engine hold more than there is, since services took resources back.
	Exhausted Reason = "Exhausted"
	// Stopped is a node that takes no new work of the engine.
	Stopped Reason = "Stopped"
)

// Verdict is what to tell both sides.
type Verdict struct {
	// Capacity is what the engine may allocate up to.
	Capacity Amount
	// Send is true when the engine is to be told.
	Send bool
	// Wanted is the capacity that the engine gets when nothing waits any more.
	Wanted Amount
	// Taken is what Kubernetes must count as taken.
	Taken Amount
	// Reason for the capacity.
	Reason Reason
	// Next is when the verdict can change although nothing else does; zero when it cannot.
	Next time.Time
	// Memory for the next decision. Where Send is true, it already holds the capacity as sent.
	Memory Memory
}

// Decide splits what a node has in batch between pods and an engine. Amounts below zero count as zero. A nil trace records nothing.
func Decide(in Input, args Args, memory Memory, trace *Trace) Verdict {
	trace.begin()
	d := newDecision(in, args, memory)
	cpu, mem := d.resource(cpuKind, trace), d.resource(memoryKind, trace)
	if args.Paired {
		pair(&cpu, &mem, args.Grain)
	}
	trace.done(cpu)
	trace.done(mem)
	return d.verdict(cpu, mem)
}

// decision is one call of Decide.
type decision struct {
	in     Input
	args   Args
	memory Memory
	// unconfirmed is true while the engine may not have taken all that was sent.
	unconfirmed bool
	// again is true when an allocation is gone that was there in the last decision.
	again bool
	// unknown is true while a process that has just started cannot know what the one before has sent.
	unknown bool
}

func newDecision(in Input, args Args, memory Memory) decision {
	for _, amount := range []*Amount{&in.Origin, &in.Offered, &in.Pods, &in.Others, &in.Taken, &in.Capacity, &in.Allocated, &in.Most} {
		amount.MilliCPU, amount.Memory = max(amount.MilliCPU, 0), max(amount.Memory, 0)
	}
	if memory.began.IsZero() {
		memory.began = in.Now
	}
	allocated := in.Allocated
	in.Allocated = Amount{MilliCPU: max(allocated.MilliCPU, memory.allocated.MilliCPU), Memory: max(allocated.Memory, memory.allocated.Memory)}
	memory.allocated = allocated
	d := decision{again: in.Allocated != allocated, in: in, args: args, memory: memory}
	for _, k := range kinds {
		kept := k.of(in.Origin) - k.of(in.Others) - k.of(in.Offered)
		k.held(&d.memory).observe(kept, in.Now, args.Settle)
	}
	sent := !memory.SentAt.IsZero()
	confirmed := memory.Sent == in.Capacity && memory.passing == Amount{}
	d.unconfirmed = sent && !confirmed && in.Now.Sub(memory.SentAt) < args.Confirm
	if !d.unconfirmed {
		d.memory.passing = Amount{}
	}
	d.unknown = !sent && in.Now.Sub(d.memory.began) < args.Confirm
	return d
}

// resource decides for cpu or memory.
func (d *decision) resource(k kind, trace *Trace) part {
	in := &d.in
	w := trace.steps(k)
	w.Step(start, "origin", k.of(in.Origin), "")
	if others := k.of(in.Others); others > 0 {
		w.Step(minus, "otherSchedulers", others, "")
	}
	w.Step(minus, "pods", k.of(in.Pods), "")
	rest := w.Value() // what pods leave; below zero when they hold more than there is
	p := part{kind: k, limit: k.down(d.most(k, max(rest, 0)), d.args.Grain), allocated: k.of(in.Allocated)}
	share, why := d.share()
	free := max(rest-p.allocated, 0)
	w.Step(minus, "podsShare", free-portion(free, share), why)
	w.Step(maximum, "floor", 0, "")
	if most := d.most(k, w.Value()); most < w.Value() {
		w.Step(minimum, "nodeOfEngine", most, "the engine's node has no more")
	}
	w.Step(minus, "rounding", max(w.Value(), 0)-k.down(max(w.Value(), 0), d.args.Grain), "")
	p.wanted = min(w.Value(), p.limit)
	if in.Stopped {
		p.wanted = min(p.wanted, k.down(p.allocated, d.args.Grain))
		w.Step(minimum, "allocated", p.wanted, "the node takes no new work")
	}
	p.steps = w

	p.capacity = k.of(d.current())
	p.said = k.of(in.Capacity)
	p.most = max(p.said, p.allocated)
	if d.unconfirmed {
		p.most = max(p.most, k.of(d.memory.Sent), k.of(d.memory.passing))
	}
	if d.unknown {
		p.most = max(p.most, k.of(in.Taken))
	}
	p.sure = k.down(max(k.held(&d.memory).sure, 0), d.args.Grain)
	return p
}

// most is an amount as far as the engine can use it.
func (d *decision) most(k kind, amount int64) int64 {
	if size := k.of(d.in.Most); size > 0 {
		return min(amount, size)
	}
	return amount
}

// pair rounds both resources down to the same number of units.
func pair(cpu, mem *part, unit Amount) {
	lower := func(a, b *int64) {
		perCPU, perMemory := max(unit.MilliCPU, 1), max(unit.Memory, 1)
		units := min(*a/perCPU, *b/perMemory)
		*a, *b = units*perCPU, units*perMemory
	}
	wantedCPU, wantedMemory := cpu.wanted, mem.wanted
	lower(&cpu.wanted, &mem.wanted)
	lower(&cpu.limit, &mem.limit)
	lower(&cpu.sure, &mem.sure)
	if cpu.wanted < wantedCPU {
		cpu.steps.Step(minimum, "memory", cpu.wanted, "there is no more memory for cpu")
	}
	if mem.wanted < wantedMemory {
		mem.steps.Step(minimum, "cpu", mem.wanted, "there is no more cpu for memory")
	}
}

// current is the capacity that the engine has, or will have once it has taken what was sent.
func (d *decision) current() Amount {
	if d.unconfirmed {
		return d.memory.Sent
	}
	return d.in.Capacity
}

// share is the percentage of what is free that belongs to the engine.
func (d *decision) share() (int64, string) {
	switch {
	case d.in.Claimed:
		return 0, "a pod waits for what is free"
	case d.in.EngineWaits:
		return 100, "the engine has something waiting, and no pod needs this node"
	}
	return min(max(d.args.SharePercent, 0), 100), "shared"
}

// portion is percent of an amount, without overflow.
func portion(amount, percent int64) int64 {
	return amount/100*percent + amount%100*percent/100
}

// part is the decision for one resource.
type part struct {
	kind
	// limit is the most that the engine may have, wanted its share, capacity what it has or was sent, and allocated what it uses.
	limit, wanted, capacity, allocated int64
	// said is the capacity that the engine says it has.
	said int64
	// most is what it may have allocated before a smaller capacity is confirmed.
	most int64
	// sure is what the node has kept from pods for long enough.
	sure int64
	// steps lead to wanted.
	steps waterfall.Waterfall
}

// next is the capacity to send when nothing waits, whether it is urgent, and whether it would be larger but has to settle.
func (p part) next() (capacity int64, urgent, settling bool) {
	if p.wanted <= p.capacity {
		return p.wanted, p.late(), false
	}
	grown := max(min(p.wanted, p.sure), min(p.capacity, p.limit))
	return grown, p.late(), grown < p.wanted
}

// late says that the engine may allocate more than there is.
func (p part) late() bool { return max(p.capacity, p.said) > p.limit }

// taken is what Kubernetes must count.
func (p part) taken() int64 { return max(p.most, p.wanted) }

// verdict puts the parts together.
func (d *decision) verdict(cpu, mem part) Verdict {
	nextCPU, urgentCPU, settlingCPU := cpu.next()
	nextMemory, urgentMemory, settlingMemory := mem.next()
	v := Verdict{
		Capacity: Amount{MilliCPU: nextCPU, Memory: nextMemory},
		Wanted:   Amount{MilliCPU: cpu.wanted, Memory: mem.wanted},
		Taken:    Amount{MilliCPU: cpu.taken(), Memory: mem.taken()},
		Reason:   Share,
	}
	urgent, settling := urgentCPU || urgentMemory, settlingCPU || settlingMemory
	switch {
	case cpu.allocated > cpu.limit || mem.allocated > mem.limit:
		v.Reason = Exhausted
	case d.in.Stopped:
		v.Reason = Stopped
	case urgent:
		v.Reason = Shrunk
	case settling:
		v.Reason = Settling
		v.Next = d.in.Now.Add(d.args.Settle)
	}
	v.Send = v.Capacity != d.current() || d.unconfirmed && (d.memory.Failed || urgent && d.overdue())
	if due := d.due(cpu, mem, v.Capacity); v.Send && !urgent && due.After(d.in.Now) {
		v.Capacity, v.Send, v.Next = d.current(), false, due
		if v.Reason == Share {
			v.Reason = Waiting
		}
	}
	if d.unconfirmed || d.unknown {
		v.Next = earliest(v.Next, d.confirmed())
	}
	if d.again {
		v.Next = d.in.Now
	}
	if v.Send {
		d.memory.send(v.Capacity, d.in.Now, d.unconfirmed)
	}
	v.Memory = d.memory
	return v
}

// overdue is true when an engine has not taken what was sent for so long that it is told again before the time to confirm is over.
func (d *decision) overdue() bool {
	return d.in.Now.Sub(d.memory.SentAt) >= max(d.args.Interval, time.Second)
}

// due is when a change that may wait is made.
func (d *decision) due(cpu, mem part, next Amount) time.Time {
	if d.memory.SentAt.IsZero() {
		return d.in.Now
	}
	for _, p := range []part{cpu, mem} {
		change := p.of(next) - p.capacity
		if max(change, -change) > portion(p.capacity, d.args.HysteresisPercent) {
			return d.memory.SentAt.Add(d.args.Interval)
		}
	}
	return d.memory.SentAt.Add(max(d.args.Patience, d.args.Interval))
}

// confirmed is when what was sent, or what an earlier process may have sent, no longer counts.
func (d *decision) confirmed() time.Time {
	if d.unconfirmed {
		return d.memory.SentAt.Add(d.args.Confirm)
	}
	return d.memory.began.Add(d.args.Confirm)
}

func earliest(a, b time.Time) time.Time {
	if a.IsZero() || b.Before(a) {
		return b
	}
	return a
}
