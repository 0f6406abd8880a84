package lownodeload

import (
	"cmp"
	"slices"
	"strings"
)

// part is the evictions of a pool for one kind of usage: that of the nodes, and then that of their prod pods.
type part struct {
	pool    *poolState
	prod    bool
	sources []*nodeState
	targets targets
	// available is what the targets may still take; pods that leave are taken from it.
	available []int64
	stop      string
}

// poolState is a pool with its nodes in a pass.
type poolState struct {
	*pool
	nodes []*nodeState
	// bothAvailable is what the nodes had left at the start of the pass that are low by both usages.
	bothAvailable []int64
	// left is what the part of the nodes did not use.
	left []int64
}

func (p *poolState) of(classes ...Class) []*nodeState {
	return slices.DeleteFunc(slices.Clone(p.nodes), func(node *nodeState) bool { return !slices.Contains(classes, node.class) })
}

// nodePart moves pods from overutilized nodes to underutilized ones.
func (p *poolState) nodePart(policy *Policy) *part {
	out := &part{pool: p, sources: p.of(High), available: make([]int64, len(p.resources))}
	p.bothAvailable = make([]int64, len(p.resources))
	for _, node := range p.of(Low, BothLow) {
		out.targets.nodes = append(out.targets.nodes, &target{nodeState: node})
		room := below(node.node.high, node.usage)
		addInto(out.available, room)
		if node.class == BothLow {
			addInto(p.bothAvailable, room)
		}
	}
	p.left = out.available
	out.decideStop(policy, func(node *nodeState) bool { return policy.requests || node.history.Node.Anomalous() })
	return out
}

// prodPart moves prod pods from nodes that are overutilized with them. A node takes no more than keeps it below both of its thresholds,
// and nodes that are low by both usages no more than the other part left.
func (p *poolState) prodPart(policy *Policy) *part {
	out := &part{pool: p, prod: true, sources: p.of(ProdHigh), available: make([]int64, len(p.resources))}
	both := make([]int64, len(p.resources))
	for _, node := range p.of(ProdLow, BothLow) {
		out.targets.nodes = append(out.targets.nodes, &target{nodeState: node})
		room := below(node.prod.high, node.prodUsage)
		if node.class == BothLow {
			addInto(both, room)
			continue
		}
		addInto(out.available, smaller(room, below(node.node.high, node.usage)))
	}
	addInto(out.available, smaller(both, smaller(p.bothAvailable, p.left)))
	out.decideStop(policy, func(node *nodeState) bool { return node.history.Prod.Anomalous() })
	return out
}

// decideStop says why no pod leaves; otherwise it keeps the anomalous sources, in the order in which pods leave them.
func (p *part) decideStop(policy *Policy, anomalous func(*nodeState) bool) {
	overutilized := len(p.sources)
	p.sources = slices.DeleteFunc(p.sources, func(node *nodeState) bool { return !anomalous(node) })
	switch low := len(p.targets.nodes); {
	case low == 0:
		p.stop = "no node is underutilized"
	case low <= policy.numberOfNodes:
		p.stop = "the number of underutilized nodes is not above numberOfNodes"
	case low == len(p.pool.nodes):
		p.stop = "all nodes are underutilized"
	case overutilized == 0:
		p.stop = "no node is overutilized"
	case len(p.sources) == 0:
		p.stop = "no overutilized node is anomalous yet"
	}
	if p.stop != "" {
		p.sources = nil
	}
	slices.SortStableFunc(p.sources, func(a, b *nodeState) int {
		return cmp.Or(cmp.Compare(p.weight(policy, b), p.weight(policy, a)), strings.Compare(a.Name, b.Name))
	})
}

// weight orders sources, the largest first.
func (p *part) weight(policy *Policy, node *nodeState) int64 {
	switch {
	case policy.requests:
		return node.rawSum()
	case p.prod:
		return node.score(node.prodUsage)
	}
	return node.score(node.usage)
}

// below is what is left below a threshold.
func below(high, usage []int64) []int64 {
	room := slices.Clone(high)
	subtractFrom(room, usage)
	return room
}

func smaller(a, b []int64) []int64 {
	out := slices.Clone(a)
	for i := range out {
		out[i] = min(out[i], b[i])
	}
	return out
}
