package lownodeload

import (
	"k8s.io/apimachinery/pkg/labels"
)

// Round is a pass, step by step: Next names a pod, and its caller says what became of it with Evicted, Refused or LeaveNode.
type Round struct {
	recording
	in       *Input
	verdict  Verdict
	pools    []*poolState
	parts    []*part
	sources  []*nodeState
	current  *source
	offered  *candidate
	destined *target
	// begun is how many parts have begun: two for each pool.
	begun int
}

// recording is where a round writes down why; nil for nowhere.
type recording struct{ trace *Trace }

// Begin classifies the nodes. A nil trace records nothing.
func Begin(in Input, trace *Trace) *Round {
	trace.begin()
	round := &Round{recording: recording{trace}, in: &in, verdict: Verdict{DryRun: in.Policy.dryRun, History: History{Nodes: make(map[string]NodeHistory, len(in.Nodes))}}}
	if in.Policy.paused {
		round.begun = -1
		round.verdict.History = in.History
		return round
	}
	round.pools = poolsOf(&in)
	seen := map[podKey]bool{}
	for _, pool := range round.pools {
		for _, node := range pool.nodes {
			node.read(&in, seen)
		}
		setLimits(pool.pool, pool.nodes)
		for _, node := range pool.nodes {
			round.classify(node)
		}
	}
	return round
}

// poolsOf puts each node into the first pool that selects it.
func poolsOf(in *Input) []*poolState {
	pools := make([]*poolState, len(in.Policy.pools))
	for i := range pools {
		pools[i] = &poolState{pool: &in.Policy.pools[i]}
	}
	for i := range in.Nodes {
		for _, pool := range pools {
			if pool.selector.Matches(labels.Set(in.Nodes[i].Labels)) {
				pool.nodes = append(pool.nodes, &nodeState{Node: &in.Nodes[i], pool: pool.pool})
				break
			}
		}
	}
	return pools
}

func (r *Round) classify(node *nodeState) {
	node.classify(r.in.Policy.requests)
	if !r.in.Policy.requests {
		node.observe(r.in)
		r.remember(node)
	}
	r.verdict.Nodes = append(r.verdict.Nodes, NodeVerdict{
		Name: node.Name, Pool: node.pool.name, Class: node.class, Problem: node.problem,
		Anomalous: node.class == High && node.history.Node.Anomalous() || node.class == ProdHigh && node.history.Prod.Anomalous(),
	})
	r.trace.classified(node, r.in.Policy.requests)
}

// Next returns the next pod that should leave, false when no more should.
func (r *Round) Next() (Victim, bool) {
	for r.current != nil || r.advance() {
		next, destined, reason := r.current.pick(r.in.Policy, r.trace)
		if next == nil {
			r.endNode(reason)
			continue
		}
		r.offered, r.destined = next, destined
		victim := Victim{Pod: next.pod, Node: r.current.Name, Pool: r.current.pool.name, Reason: r.current.reason()}
		if destined != nil {
			victim.Target = destined.Name
		}
		return victim, true
	}
	return Victim{}, false
}

// advance goes to the next node that pods leave; false when there is none.
func (r *Round) advance() bool {
	for len(r.sources) == 0 {
		if r.begun < 0 || r.begun >= 2*len(r.pools) {
			return false
		}
		r.beginPart(r.pools[r.begun/2], r.begun%2 == 1)
		r.begun++
	}
	node, part := r.sources[0], r.parts[len(r.parts)-1]
	r.sources = r.sources[1:]
	r.current = &source{nodeState: node, part: part, candidates: candidatesOf(node, part, r.in, r.trace)}
	return true
}

func (r *Round) beginPart(pool *poolState, prod bool) {
	if prod && !pool.prod {
		return
	}
	overutilized := len(pool.of(High))
	next := (*part)(nil)
	if prod {
		overutilized = len(pool.of(ProdHigh))
		next = pool.prodPart(r.in.Policy)
	} else {
		next = pool.nodePart(r.in.Policy)
	}
	r.parts, r.sources = append(r.parts, next), next.sources
	r.verdict.Parts = append(r.verdict.Parts, PartVerdict{
		Pool: pool.name, Prod: prod, Underutilized: len(next.targets.nodes), Overutilized: overutilized, Stop: next.stop,
	})
	r.trace.partBegun(next)
}

// Evicted says that the pod of Next leaves.
func (r *Round) Evicted() {
	if r.offered == nil {
		return
	}
	r.trace.leaving(r.current, r.offered, r.destined)
	victim := Victim{Pod: r.offered.pod, Node: r.current.Name, Pool: r.current.pool.name, Reason: r.current.reason()}
	if r.destined != nil {
		victim.Target = r.destined.Name
		r.current.part.targets.take(r.destined, r.offered)
	}
	r.verdict.Victims = append(r.verdict.Victims, victim)
	r.current.leave(r.offered)
	r.offered = nil
}

// Refused says why the pod of Next stays.
func (r *Round) Refused(reason string) {
	if r.offered != nil {
		r.offered.done = true
		r.trace.skipped(r.current.Name, r.offered.pod, reason)
		r.offered = nil
	}
}

// LeaveNode says why no more pods leave the node of the pod of Next, which stays.
func (r *Round) LeaveNode(reason string) {
	r.Refused(reason)
	if r.current != nil {
		r.endNode(reason)
	}
}

// endNode goes on to the next node. The count of one that is no longer overutilized restarts.
func (r *Round) endNode(reason string) {
	node := r.current
	r.trace.left(node, reason)
	if _, over := node.excess(); !over && node.evicted > 0 && !r.in.Policy.dryRun && !r.in.Policy.requests {
		if node.part.prod {
			node.history.Prod = Detector{}
		} else {
			node.history.Node = Detector{}
		}
		r.remember(node.nodeState)
	}
	r.current = nil
}

// remember keeps the counts of a node, unless there are none.
func (r *Round) remember(node *nodeState) {
	if node.history.Node == (Detector{}) && node.history.Prod == (Detector{}) {
		delete(r.verdict.History.Nodes, node.Name)
		return
	}
	r.verdict.History.Nodes[node.Name] = node.history
}

// Verdict is what came of the pass so far.
func (r *Round) Verdict() Verdict { return r.verdict }
