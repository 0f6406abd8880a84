package queryhint

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"math"
	"slices"
	"time"

	"koordinator.sh/koord/api/finding"
	"koordinator.sh/koord/decision/core/freshness"
	"koordinator.sh/koord/decision/core/phrase"
)

// Verdict is the nodes to prefer.
type Verdict struct {
	// Nodes to prefer, best first.
	Nodes []string
	// Reason why there are none, and its code where somebody has to act.
	Reason string
	Code   finding.Code
}

// Decide ranks the nodes that a pod may get. Workers prefer nodes with fewer workers, then those on which a cache waits for one; caches
// prefer nodes with more workers than caches, and only nodes with workers. Of several, those with less memory in use come first. Nodes
// whose memory is hot, is predicted to become hot, or is not known are left out. A nil trace records nothing.
func Decide(in Input, trace *Trace) Verdict {
	trace.begin()
	d := decision{in: &in, trace: trace}
	for i := range in.Nodes {
		d.judge(&in.Nodes[i])
	}
	slices.SortFunc(d.open, d.compare)
	trace.prefer(&in, d.open)
	d.open = d.open[:min(len(d.open), in.Settings.MaxNodes)]
	verdict := Verdict{Nodes: make([]string, 0, len(d.open))}
	for i := range d.open {
		verdict.Nodes = append(verdict.Nodes, d.open[i].node.Name)
	}
	if len(verdict.Nodes) == 0 {
		verdict.Reason, verdict.Code = d.nothing()
	}
	return verdict
}

// cause is why a node is left out.
type cause int

const (
	closed cause = iota
	unmeasured
	stale
	hot
	becomesHot
	alone
	beyond
	causes
)

type decision struct {
	in    *Input
	trace *Trace
	open  []ranked
	// out counts the nodes that are left out.
	out [causes]int
}

// ranked is a node that may be preferred.
type ranked struct {
	node *Node
	// used and predicted are shares of the capacity in percent; predicted is -1 where nothing predicts.
	used, predicted int64
	tie             uint64
}

// judge adds a node to those that may be preferred, or leaves it out.
func (d *decision) judge(node *Node) {
	one := ranked{node: node, predicted: -1}
	if node.Capacity > 0 {
		one.used = share(node.Used, node.Capacity)
		if node.Growth != nil {
			one.predicted = share(sum(node.Used, max(*node.Growth, 0)), node.Capacity)
		}
	}
	if why, left := d.leaves(&one); left {
		d.out[why]++
		d.trace.leave(d.in, &one, why)
		return
	}
	one.tie = d.tie(node.Name)
	d.open = append(d.open, one)
}

// leaves says whether a node is left out, and why.
func (d *decision) leaves(one *ranked) (cause, bool) {
	node, limit := one.node, d.in.Settings.HotMemoryPercent
	switch {
	case node.Closed:
		return closed, true
	case node.Measured.IsZero() || node.Capacity <= 0:
		return unmeasured, true
	case apart(d.in.Now, node.Measured) > d.in.Settings.Fresh:
		return stale, true
	case one.used >= limit:
		return hot, true
	case one.predicted >= limit:
		return becomesHot, true
	case d.in.Role == Cache && node.Workers == 0:
		return alone, true
	}
	return 0, false
}

// apart is how far two moments are from each other: a measurement of a clock that is ahead is as little worth as an old one.
func apart(a, b time.Time) time.Duration {
	seconds := freshness.Seconds(a, b)
	return time.Duration(max(seconds, -seconds)) * time.Second
}

// most is where shares end, in percent.
const most = 1000

// share is how many percent of a total a part is, rounded down.
func share(part, total int64) int64 {
	if part > math.MaxInt64/100 { // 92 PB
		return most
	}
	return min(max(part, 0)*100/total, most)
}

// sum of two amounts of which the second is positive.
func sum(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

// step of memory in use, in percent, within which nodes are equal.
const step = 10

func (d *decision) compare(a, b ranked) int {
	order := 0
	if d.in.Role == Cache {
		order = cmp.Or(cmp.Compare(b.node.Workers-b.node.Caches, a.node.Workers-a.node.Caches), cmp.Compare(a.node.Caches, b.node.Caches))
	} else {
		order = cmp.Or(cmp.Compare(a.node.Workers, b.node.Workers), cmp.Compare(b.node.Caches, a.node.Caches))
	}
	return cmp.Or(order, cmp.Compare(max(a.used, a.predicted)/step, max(b.used, b.predicted)/step), cmp.Compare(a.tie, b.tie), cmp.Compare(a.node.Name, b.node.Name))
}

// tie orders nodes between which nothing else decides.
func (d *decision) tie(name string) uint64 {
	hash := fnv.New64a()
	_, _ = hash.Write([]byte(d.in.Seed + "/" + name)) // never an error
	return hash.Sum64()
}

// nothing says why no node is preferred.
func (d *decision) nothing() (string, finding.Code) {
	switch open, unknown := len(d.in.Nodes)-d.out[closed], d.out[unmeasured]+d.out[stale]; {
	case open == 0:
		return "the pod may run on no node", ""
	case unknown == open:
		return fmt.Sprintf("the memory of %s is not known: there is no measurement of the last %s", of(open), d.in.Settings.Fresh), finding.QueryHintUnmeasured
	case d.out[alone] > 0:
		return fmt.Sprintf("no worker of engine %s runs on a node whose memory is not hot", d.in.Engine), ""
	case unknown > 0:
		return fmt.Sprintf("the memory of %d of %s that the pod may run on is hot, or predicted to become so, and of the others it is not known",
			open-unknown, phrase.Counted(open, "node")), finding.QueryHintHot
	default:
		return fmt.Sprintf("the memory of %s is hot, or predicted to become so", of(open)), finding.QueryHintHot
	}
}

// of says how many nodes there are of which the same is true.
func of(count int) string {
	if count == 1 {
		return "the only node that the pod may run on"
	}
	return "all " + phrase.Counted(count, "node") + " that the pod may run on"
}
