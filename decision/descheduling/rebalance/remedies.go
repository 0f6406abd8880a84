package rebalance

import "math"

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
