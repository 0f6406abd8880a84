package rebalance

import (
	"container/heap"
	"slices"
)

// Decide says what is to be done about overutilized nodes and a load that is not spread, the cheapest remedy first. Each step that
// relieves a node lowers the potential, no pod has two steps, and the number of moves is bounded. A nil trace records nothing.
func Decide(in Input, trace *Trace) Plan {
	p := newPass(&in)
	trace.begin(p)
	plan := Plan{Before: p.load.phi, Loops: p.memory.loops}
	if p.load.count > 0 {
		p.holdBack(&plan)
		p.lowerLimits(&plan, trace)
		p.migrate(&plan, trace)
	}
	p.restoreLimits(&plan, trace)
	plan.After = p.load.phi
	trace.end(p, &plan)
	return plan
}

// pass is one run of Decide.
type pass struct {
	in      *Input
	load    *load
	memory  memory
	targets targets
	// byNode are the pods of each node: pods[begin[n]:begin[n+1]].
	pods  []int32
	begin []int32
	// share of a pod's predicted usage that its node loses with it, for each node and resource. The percentile of a sum is at most
	// the sum of the percentiles, and less is lost than the pod may use elsewhere.
	share []float64
	// touched pods have a step in this pass or are being moved.
	touched []bool
	// leaving and arriving count the moves of nodes, moving those of workloads.
	leaving, arriving []int32
	moving            []int32
	moves             []Move
	loses, gains      []float64
	// checks are how often Feasible may still be asked in this pass.
	checks int64
}

func newPass(in *Input) *pass {
	nodes, width := len(in.Nodes), len(in.Resources)
	p := &pass{
		in: in, load: newLoad(in), memory: remember(in), touched: make([]bool, len(in.Pods)), share: make([]float64, nodes*width),
		leaving: make([]int32, nodes), arriving: make([]int32, nodes), moving: make([]int32, len(in.Workloads)),
		loses: make([]float64, width), gains: make([]float64, width), checks: checksPerTarget * *in.Args.MaxTargetsPerPod,
	}
	p.group()
	p.shares()
	p.pending()
	p.load.phi = p.load.potential()
	p.targets = newTargets(p)
	return p
}

// group sorts the pods by their nodes.
func (p *pass) group() {
	p.begin = make([]int32, len(p.in.Nodes)+1)
	for i := range p.in.Pods {
		if n := p.in.Pods[i].Node; p.on(n) {
			p.begin[n+1]++
		}
	}
	for n := range p.in.Nodes {
		p.begin[n+1] += p.begin[n]
	}
	p.pods = make([]int32, p.begin[len(p.in.Nodes)])
	next := slices.Clone(p.begin)
	for i := range p.in.Pods {
		if n := p.in.Pods[i].Node; p.on(n) {
			p.pods[next[n]] = int32(i)
			next[n]++
		}
	}
}

func (p *pass) on(n int) bool { return n >= 0 && n < len(p.in.Nodes) }

func (p *pass) podsOf(n int) []int32 { return p.pods[p.begin[n]:p.begin[n+1]] }

// shares compares what nodes are predicted to use with the sum of what their pods are.
func (p *pass) shares() {
	width := p.load.width
	for i := range p.in.Pods {
		pod := &p.in.Pods[i]
		if !p.on(pod.Node) || !p.measured(pod) {
			continue
		}
		for r, used := range pod.Usage {
			p.share[pod.Node*width+r] += used
		}
	}
	for n := range p.in.Nodes {
		for r := range width {
			at := n*width + r
			sum := p.share[at]
			p.share[at] = 1
			if p.load.known[n] && sum > p.in.Nodes[n].Usage[r] {
				p.share[at] = p.in.Nodes[n].Usage[r] / sum
			}
		}
	}
}

func (p *pass) measured(pod *Pod) bool {
	return len(pod.Usage) == p.load.width && !slices.ContainsFunc(pod.Usage, func(used float64) bool { return !usable(used) })
}

// pending moves the load of pods that are under way.
func (p *pass) pending() {
	for _, move := range p.in.Pending {
		if move.Pod < 0 || move.Pod >= len(p.in.Pods) || p.touched[move.Pod] || !p.on(move.From) {
			continue
		}
		p.touched[move.Pod] = true
		if !p.measured(&p.in.Pods[move.Pod]) || !p.load.known[move.From] {
			continue
		}
		target := move.To
		if !p.on(target) || !p.load.known[target] {
			target = -1
		}
		p.fractions(move.Pod, move.From, target)
		p.load.apply(move.From, target, p.loses, p.gains, 0)
	}
}

// fractions sets what a source loses and a target gains with a pod.
func (p *pass) fractions(pod, source, target int) {
	for r, used := range p.in.Pods[pod].Usage {
		p.loses[r] = p.share[source*p.load.width+r] * used / p.in.Nodes[source].Capacity[r]
		if target >= 0 {
			p.gains[r] = used / p.in.Nodes[target].Capacity[r]
		}
	}
}

// least improvement of a move of some cost.
func (p *pass) least(cost float64) float64 {
	return *p.in.Args.CostWeight*cost + *p.in.Args.MinImprovement
}

// Bounds of how often the scheduler's filters are asked, as multiples of MaxTargetsPerPod: pods that no node takes must not cost a pass
// more than others, nor keep it from the nodes behind theirs.
const (
	checksPerTarget = 1000
	podsPerNode     = 4
)

// migrate moves pods off the nodes for which that can gain the most, until no move is worth it.
func (p *pass) migrate(plan *Plan, trace *Trace) {
	sources := newSources(p)
	for len(sources.nodes) > 0 && len(p.moves) < int(*p.in.Args.MaxMovesPerPass) && p.checks > 0 {
		n := sources.nodes[0]
		if int64(p.leaving[n]) >= *p.in.Args.MaxMovesPerNode || !p.relieve(n, plan, trace) {
			heap.Pop(&sources)
			continue
		}
		sources.most[n] = p.load.most(n, sources.least)
		heap.Fix(&sources, 0)
	}
}

// relieve moves the pod off a node whose move is worth the most; false when none is worth it.
func (p *pass) relieve(n int, plan *Plan, trace *Trace) bool {
	candidates := p.candidates(n, plan, trace)
	slices.SortStableFunc(candidates, compareCandidates)
	left := p.checks
	for i := range candidates {
		if left-p.checks >= podsPerNode**p.in.Args.MaxTargetsPerPod {
			trace.skipped(p, candidates[i].pod, LimitReached, "")
			continue
		}
		choice, ok := p.choose(&candidates[i], trace)
		if !ok {
			continue
		}
		p.accept(n, &candidates[i], choice, plan, trace)
		return true
	}
	return false
}

func (p *pass) accept(n int, c *candidate, choice option, plan *Plan, trace *Trace) {
	before := p.load.phi
	p.targets.remove(n)
	p.targets.remove(choice.node)
	p.fractions(c.pod, n, choice.node)
	p.load.apply(n, choice.node, p.loses, p.gains, choice.gain)
	p.touched[c.pod] = true
	p.leaving[n]++
	p.arriving[choice.node]++
	p.moving[p.in.Pods[c.pod].Workload]++
	p.targets.put(n, p.load.level(n))
	p.targets.put(choice.node, p.load.level(choice.node))
	p.moves = append(p.moves, Move{Pod: c.pod, From: n, To: choice.node})
	plan.Steps = append(plan.Steps, Step{Remedy: Migrate, Node: n, Pod: c.pod, Target: choice.node, Others: choice.others})
	trace.moved(p, c, choice, before)
}
