package rebalance

import (
	"cmp"
	"math"
	"slices"
)

// holdBack lets the agents hold best-effort pods back on overutilized nodes, where that helps.
func (p *pass) holdBack(plan *Plan) {
	for n := range p.in.Nodes {
		node := &p.in.Nodes[n]
		if !p.load.known[n] || len(node.Reclaimable) != p.load.width || !p.load.hot(n) {
			continue
		}
		amount := make([]float64, p.load.width)
		for r, u := range p.load.row(n) {
			p.loses[r] = 0
			if usable(node.Reclaimable[r]) {
				amount[r] = math.Min(node.Reclaimable[r], p.load.over(r, u)*node.Capacity[r])
				p.loses[r] = amount[r] / node.Capacity[r]
			}
		}
		gain := p.load.gain(n, -1, p.loses, p.gains)
		if gain <= *p.in.Args.MinImprovement {
			continue
		}
		p.load.apply(n, -1, p.loses, p.gains, gain)
		p.targets.sort(p.load)
		plan.Steps = append(plan.Steps, Step{Remedy: HoldBack, Node: n, Pod: -1, Target: -1, Amount: amount})
	}
}

// resize takes from pods of nodes that are still overutilized what they can do without, from the one that minds least.
func (p *pass) resize(plan *Plan, trace *Trace) {
	for n := range p.in.Nodes {
		if !p.load.known[n] || !p.load.hot(n) {
			continue
		}
		var pods []int
		for _, i := range p.podsOf(n) {
			if p.resizable(int(i)) {
				pods = append(pods, int(i))
			}
		}
		slices.SortStableFunc(pods, func(a, b int) int { return cmp.Compare(p.in.Pods[a].cost(), p.in.Pods[b].cost()) })
		for _, i := range pods {
			if !p.load.hot(n) {
				break
			}
			p.shrink(n, i, plan, trace)
		}
	}
	p.targets.sort(p.load)
}

func (p *pass) resizable(i int) bool {
	pod := &p.in.Pods[i]
	return len(pod.Shrink) == p.load.width && !p.touched[i] && p.measured(pod) && !slices.ContainsFunc(pod.Shrink, func(v float64) bool { return !usable(v) }) &&
		(pod.Workload < 0 || p.in.Workloads[pod.Workload].Freeze == "")
}

func (p *pass) shrink(n, i int, plan *Plan, trace *Trace) {
	pod := &p.in.Pods[i]
	amount := make([]float64, p.load.width)
	for r := range amount {
		amount[r] = math.Min(pod.Shrink[r], pod.Usage[r])
		p.loses[r] = p.share[n*p.load.width+r] * amount[r] / p.in.Nodes[n].Capacity[r]
	}
	gain, cost := p.load.gain(n, -1, p.loses, p.gains), resizeShare*pod.cost()
	if gain*pod.worth(p.in.Args.Horizon.Duration) <= p.least(cost) {
		return
	}
	before := p.load.phi
	p.load.apply(n, -1, p.loses, p.gains, gain)
	p.touched[i] = true
	plan.Steps = append(plan.Steps, Step{Remedy: Resize, Node: n, Pod: i, Target: -1, Amount: amount})
	trace.resized(p, i, before, cost)
}

// scaledDown marks a pod of a workload that is being scaled down, so that the scale-down removes it first from a node that is
// overutilized.
func (p *pass) scaledDown(n, i int, plan *Plan) {
	if !p.load.hot(n) || p.touched[i] || !p.measured(&p.in.Pods[i]) {
		return
	}
	p.fractions(i, n, -1)
	gain := p.load.gain(n, -1, p.loses, p.gains)
	if gain <= *p.in.Args.MinImprovement {
		return
	}
	const scale, most = 1000, 10000
	p.touched[i] = true
	plan.Steps = append(plan.Steps, Step{Remedy: DeletionCost, Node: n, Pod: i, Target: -1, DeletionCost: -int32(math.Min(1+math.Round(gain*scale), most))})
}
