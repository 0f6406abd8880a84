package rebalance

import (
	"cmp"
	"slices"
)

// Reason is why a pod that was considered is not moved.
type Reason string

// The reasons.
const (
	// BeingMoved: the pod has a PodMigrationJob, or another step in this pass.
	BeingMoved Reason = "BeingMoved"
	// NotEvictable: the pod may not be evicted.
	NotEvictable Reason = "NotEvictable"
	// NoWorkload: nothing would replace the pod, and no history is kept of it.
	NoWorkload Reason = "NoWorkload"
	// UsageUnknown: what the pod uses is not known.
	UsageUnknown Reason = "UsageUnknown"
	// Frozen: its workload is being rolled out or scaled down.
	Frozen Reason = "Frozen"
	// Looping: its workload went in circles and is stopped.
	Looping Reason = "Looping"
	// CoolingDown: the pod was moved a short while ago.
	CoolingDown Reason = "CoolingDown"
	// LimitReached: enough pods of the workload move in this pass.
	LimitReached Reason = "LimitReached"
	// NoTarget: no node can take the pod and stay below its thresholds.
	NoTarget Reason = "NoTarget"
	// ReturnsToNode: the only nodes that can take it are such that its workload left.
	ReturnsToNode Reason = "ReturnsToNode"
	// EndsSoon: what its job has left is not worth the move.
	EndsSoon Reason = "EndsSoon"
	// GainBelowCost: no move improves the load by more than it costs.
	GainBelowCost Reason = "GainBelowCost"
)

// batch is how many targets are compared at once.
const batch = 16

// candidate is a pod that could move, with the best of its first targets.
type candidate struct {
	pod, node int
	cost      float64
	worth     float64
	// net is what the best of the targets gains beyond the cost.
	net float64
	// quarter of its job's work that is done.
	quarter int
}

// compareCandidates puts the one first whose move is worth the most, and of such that are worth the same, the one that loses the least of its work.
func compareCandidates(a, b candidate) int {
	return cmp.Or(cmp.Compare(b.net, a.net), cmp.Compare(a.quarter, b.quarter))
}

// option is a target of a candidate.
type option struct {
	node int
	gain float64
	// others are the targets behind it that are worth the move as well, the best first.
	others []int
}

// refusals are the targets that were passed over while options were looked for.
type refusals struct{ full, returns int }

// candidates of a node that are worth a move to some node that has room, whether or not the node is feasible.
func (p *pass) candidates(n int, plan *Plan, trace *Trace) []candidate {
	var found []candidate
	for _, at := range p.podsOf(n) {
		i := int(at)
		pod := &p.in.Pods[i]
		if reason := p.refuse(i); reason != "" {
			if reason == Frozen && p.in.Workloads[pod.Workload].Freeze == ScaleDown {
				p.scaledDown(n, i, plan)
			}
			trace.skipped(p, i, reason, "")
			continue
		}
		c := candidate{pod: i, node: n, cost: pod.cost(), worth: pod.worth(p.in.Args.Horizon.Duration), quarter: pod.Progress.Quarter(p.in.Now)}
		var passed refusals
		options, _ := p.options(&c, 0, &passed)
		if len(options) == 0 {
			trace.skipped(p, i, passed.reason(), "")
			continue
		}
		best := options[0].gain
		c.net = best*c.worth - p.least(c.cost)
		switch {
		case c.net > 0:
			found = append(found, c)
		case best > p.least(c.cost):
			trace.skipped(p, i, EndsSoon, "")
		default:
			trace.small(p, &c, best)
		}
	}
	return found
}

func (r refusals) reason() Reason {
	if r.returns > 0 {
		return ReturnsToNode
	}
	return NoTarget
}

// refuse says why a pod is not looked at; empty for one that is.
func (p *pass) refuse(i int) Reason {
	pod := &p.in.Pods[i]
	switch {
	case p.touched[i]:
		return BeingMoved
	case pod.Protected != "":
		return NotEvictable
	case pod.Workload < 0 || pod.Workload >= len(p.in.Workloads):
		return NoWorkload
	case !p.measured(pod):
		return UsageUnknown
	}
	workload := &p.in.Workloads[pod.Workload]
	switch {
	case workload.Freeze != "":
		return Frozen
	case len(p.memory.stopped) > 0 && !p.memory.stopped[workload.Key].IsZero():
		return Looping
	case p.memory.cooling(p.in, pod):
		return CoolingDown
	case int64(p.moving[pod.Workload]) >= *p.in.Args.MaxMovesPerWorkload:
		return LimitReached
	}
	return ""
}

// options are the next targets from a place in the order on that have room for a pod, the one that gains the most first, and the place
// after them.
func (p *pass) options(c *candidate, from int, passed *refusals) ([]option, int) {
	var found []option
	workload := p.in.Workloads[p.in.Pods[c.pod].Workload].Key
	level := p.load.level(c.node)
	for ; from < len(p.targets.order) && len(found) < batch; from++ {
		n := int(p.targets.order[from])
		if p.targets.level[n] >= level && !p.load.hot(c.node) {
			break // the rest has a higher load than the source
		}
		if n == c.node || int64(p.arriving[n]) >= *p.in.Args.MaxMovesPerNode {
			continue
		}
		p.fractions(c.pod, c.node, n)
		if !p.room(n) {
			passed.full++
			continue
		}
		if p.memory.returns(workload, p.in.Nodes[n].Name) {
			passed.returns++
			continue
		}
		found = append(found, option{node: n, gain: p.load.gain(c.node, n, p.loses, p.gains)})
	}
	slices.SortStableFunc(found, func(a, b option) int { return cmp.Compare(b.gain, a.gain) })
	return found, from
}

// room is true for a target that stays below its limits with what it gains.
func (p *pass) room(n int) bool {
	for r, u := range p.load.row(n) {
		if u+p.gains[r] > p.targets.limit[n*p.load.width+r] {
			return false
		}
	}
	return true
}

// choose finds the best target that is feasible for a candidate.
func (p *pass) choose(c *candidate, trace *Trace) (option, bool) {
	from := 0
	var passed refusals
	for last := p.checks - *p.in.Args.MaxTargetsPerPod; p.checks > max(last, 0); {
		var options []option
		options, from = p.options(c, from, &passed)
		if len(options) == 0 || options[0].gain*c.worth <= p.least(c.cost) {
			break // nodes with a higher load gain no more
		}
		for i := range options {
			if options[i].gain*c.worth <= p.least(c.cost) || p.checks <= max(last, 0) {
				break
			}
			p.checks--
			reason, feasible := p.feasible(c.pod, options[i].node)
			if feasible {
				trace.runners(p, c, options, i)
				options[i].others = p.worthwhile(c, options[i+1:])
				return options[i], true
			}
			trace.infeasible(p, options[i], reason)
		}
	}
	trace.skipped(p, c.pod, NoTarget, trace.refusals())
	return option{}, false
}

// worthwhile are the nodes of options that gain more than the move costs.
func (p *pass) worthwhile(c *candidate, options []option) []int {
	var nodes []int
	for i := range options {
		if options[i].gain*c.worth > p.least(c.cost) {
			nodes = append(nodes, options[i].node)
		}
	}
	return nodes
}

func (p *pass) feasible(pod, node int) (string, bool) {
	if p.in.Feasible == nil {
		return "", true
	}
	return p.in.Feasible(pod, node, p.moves)
}
