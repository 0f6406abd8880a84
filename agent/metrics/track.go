package metrics

import (
	"time"

	"koordinator.sh/koord/agent/host"
)

// track follows the counters of one cgroup from reading to reading.
type track struct {
	// last is the CPU time at the reading of seen, which is zero before the first.
	last   time.Duration
	seen   time.Time
	recent recent
	// details are nil for cgroups of which only usage is read.
	details *details
}

// details of a cgroup beside its usage.
type details struct {
	throttled  host.Throttling
	throttling Throttling
	pressures  pressures
	io         host.BlockIO
	blockIO    BlockIO
}

// observe returns what was used since the previous reading, of what was not seen before since the node's; nothing of CPU where
// there is neither.
func (t *track) observe(n *Node, counter host.Counter, more *host.Details, at time.Time) Usage {
	since, first := t.seen, n.lastAt.IsZero()
	if since.IsZero() {
		since = n.lastAt
	}
	usage := Usage{Memory: n.policy.memory(counter)}
	if first {
		t.recent.begin(counter, at)
	} else {
		usage.NanoCores = rate(t.last, counter.CPU, at.Sub(since))
		t.recent.observe(counter, at, usage.NanoCores, n.policy.Period)
	}
	t.last, t.seen = counter.CPU, at
	if t.details == nil && *more != nothing {
		t.details = &details{}
		if first {
			t.details.throttled = more.Throttling // what was before the agent is not of the time between two readings
		}
	}
	if t.details != nil {
		t.details.observe(more)
	}
	return usage
}

func (d *details) observe(read *host.Details) {
	d.throttling, d.throttled = throttling(d.throttled, read.Throttling), read.Throttling
	d.pressures.observe(read.Pressure)
	if io := read.BlockIO; io.At.After(d.io.At) {
		if !d.io.At.IsZero() {
			d.blockIO = blockIO(d.io, io)
		}
		d.io = io
	}
}

// pressures are those between the latest two readings of them.
type pressures struct {
	last   host.Pressure
	latest Pressure
}

func (p *pressures) observe(read host.Pressure) {
	if !read.At.After(p.last.At) {
		return
	}
	if !p.last.At.IsZero() {
		p.latest = pressure(p.last, read)
	}
	p.last = read
}

// recent is what was used between the latest two readings of any kind.
type recent struct {
	// cpu time at a moment, in nanoseconds of Unix time; 0 before the first reading.
	cpu time.Duration
	at  int64
	// usage from the reading before until at. Its memory is that without page cache, whatever the policy reports: that alone
	// can run out.
	usage Usage
	known bool
}

// shortest time between two readings that a rate is taken over: the node's own counter moves in steps of 10 ms.
const shortest = 20 * time.Millisecond

func (r *recent) begin(counter host.Counter, at time.Time) {
	r.cpu, r.at, r.usage, r.known = counter.CPU, at.UnixNano(), Usage{}, false
}

// observe takes a regular reading, and the rate since the one before. Where there was a reading between, the rate since that
// one is newer, unless it stands for less than a tenth of the period.
func (r *recent) observe(counter host.Counter, at time.Time, nanoCores int64, period time.Duration) {
	if since := time.Duration(at.UnixNano() - r.at); r.at != 0 && since >= period/10 && since < period*9/10 {
		nanoCores = rate(r.cpu, counter.CPU, since)
	}
	r.cpu, r.at, r.known = counter.CPU, at.UnixNano(), true
	r.usage = Usage{NanoCores: nanoCores, Memory: counter.Memory}.bounded()
}

// observeBetween takes a reading between two regular ones.
func (r *recent) observeBetween(counter host.Counter, at time.Time) {
	since := time.Duration(at.UnixNano() - r.at)
	if r.at == 0 || since < shortest {
		return
	}
	r.usage = Usage{NanoCores: rate(r.cpu, counter.CPU, since), Memory: counter.Memory}.bounded()
	r.cpu, r.at, r.known = counter.CPU, at.UnixNano(), true
}

// within returns the usage when it is of a period that ends at a moment.
func (r *recent) within(at time.Time, period time.Duration) (Usage, bool) {
	age := time.Duration(at.UnixNano() - r.at)
	if !r.known || age < 0 || age >= period {
		return Usage{}, false
	}
	return r.usage, true
}
