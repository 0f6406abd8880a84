package rebalance

import (
	"cmp"
	"math"
	"slices"

	corev1 "k8s.io/api/core/v1"
)

const (
	// resizeCost is what it costs to throttle a job, in restarts of an ordinary pod: it goes on from where it is.
	resizeCost = 0.1
	// mostResizes of one pass, and as many pods get their limits back.
	mostResizes = 100
	// limitsPerCore is how finely limits are set: hundredths of a core, the smallest CPU quota of the kernel.
	limitsPerCore = 100
)

// cpu is the place of CPU among the resources; -1 where its load is not looked at.
func (p *pass) cpu() int { return slices.Index(p.in.Resources, corev1.ResourceCPU) }

// lowerLimits lowers the CPU limits of jobs on overutilized nodes, as far as that relieves them: a job that is throttled ends later, one that
// is moved begins anew.
func (p *pass) lowerLimits(plan *Plan, trace *Trace) {
	r := p.cpu()
	if r < 0 || !*p.in.Args.ResizeInPlace {
		return
	}
	left := mostResizes
	for n := range p.in.Nodes {
		if !p.load.known[n] || !p.load.exceeds(r, p.load.row(n)[r]) {
			continue
		}
		for _, i := range p.throttleable(n, r) {
			if left == 0 {
				return
			}
			if p.lowerLimit(n, i, r, plan, trace) {
				left--
			}
		}
	}
}

// throttleable are the pods of a node whose limits can be lowered below what they use: those of the lowest priority first, then those that
// use the most beyond what they request.
func (p *pass) throttleable(n, r int) []int {
	var found []int
	for _, at := range p.podsOf(n) {
		i := int(at)
		pod := &p.in.Pods[i]
		if pod.Limit != nil && !pod.Limit.Kept && !p.touched[i] && p.measured(pod) && pod.Usage[r] > pod.Limit.Least && p.settled(pod) {
			found = append(found, i)
		}
	}
	slices.SortStableFunc(found, func(a, b int) int {
		x, y := &p.in.Pods[a], &p.in.Pods[b]
		return cmp.Or(cmp.Compare(x.Priority, y.Priority), cmp.Compare(y.Usage[r]-y.Limit.Least, x.Usage[r]-x.Limit.Least))
	})
	return found
}

// settled is false for a pod that a rollout or a scale-down may remove.
func (p *pass) settled(pod *Pod) bool {
	return pod.Workload < 0 || pod.Workload >= len(p.in.Workloads) || p.in.Workloads[pod.Workload].Freeze == ""
}

// lowerLimit lowers the limit of a pod until its node is at its threshold; false where that is not worth it.
func (p *pass) lowerLimit(n, i, r int, plan *Plan, trace *Trace) bool {
	pod, node := &p.in.Pods[i], &p.in.Nodes[n]
	excess := p.load.over(r, p.load.row(n)[r]) * node.Capacity[r]
	if excess <= 0 {
		return false
	}
	share := p.share[n*p.load.width+r]
	to := math.Floor((pod.Usage[r]-excess/share)*limitsPerCore) / limitsPerCore
	to = math.Max(to, pod.Limit.Least)
	if !(to < pod.Usage[r]) || !(to < pod.Limit.Now) {
		return false
	}
	clear(p.loses)
	p.loses[r] = share * (pod.Usage[r] - to) / node.Capacity[r]
	gain := p.load.gain(n, -1, p.loses, p.gains)
	if gain <= p.least(resizeCost) {
		return false
	}
	before := p.load.row(n)[r]
	p.load.apply(n, -1, p.loses, p.gains, gain) // an overutilized node is no target, whose order would change
	p.touched[i] = true
	plan.Steps = append(plan.Steps, Step{Remedy: LowerCPULimit, Node: n, Pod: i, Target: -1, Limit: to})
	trace.resized(p, i, LowerCPULimit, to, before, p.load.row(n)[r])
	return true
}

// restoreLimits gives pods their limits back, after all moves, where their nodes stay below the threshold, by the margin, with what they used before. A
// limit that was lowered under the same load is not given back, so that it is not lowered and given back in turns.
func (p *pass) restoreLimits(plan *Plan, trace *Trace) {
	r, left := p.cpu(), mostResizes
	for n := range p.in.Nodes {
		for _, i := range p.lowered(n) {
			if left == 0 {
				return
			}
			if p.restoreLimit(n, i, r, plan, trace) {
				left--
			}
		}
	}
}

// lowered are the pods of a node whose limits are lower than they were, those of the highest priority first.
func (p *pass) lowered(n int) []int {
	var found []int
	for _, at := range p.podsOf(n) {
		if limit := p.in.Pods[at].Limit; limit != nil && limit.Before > limit.Now && !p.touched[at] {
			found = append(found, int(at))
		}
	}
	slices.SortStableFunc(found, func(a, b int) int { return cmp.Compare(p.in.Pods[b].Priority, p.in.Pods[a].Priority) })
	return found
}

func (p *pass) restoreLimit(n, i, r int, plan *Plan, trace *Trace) bool {
	pod := &p.in.Pods[i]
	at, gains, rises := 0.0, 0.0, r >= 0 && p.load.known[n] && p.measured(pod)
	if rises {
		at = p.load.row(n)[r]
		gains = math.Max(0, pod.Limit.Usage-pod.Usage[r]) / p.in.Nodes[n].Capacity[r]
	}
	margin := float64(*p.in.Args.TargetMarginPercent) / 100
	wanted := pod.Limit.Withdrawn || !*p.in.Args.ResizeInPlace || r < 0
	if !wanted && (!rises || at+gains > p.load.high[r]-margin) {
		return false
	}
	if rises {
		clear(p.loses)
		p.loses[r] = -gains
		p.load.apply(n, -1, p.loses, p.gains, p.load.gain(n, -1, p.loses, p.gains))
	}
	p.touched[i] = true
	plan.Steps = append(plan.Steps, Step{Remedy: RestoreCPULimit, Node: n, Pod: i, Target: -1, Limit: pod.Limit.Before})
	trace.resized(p, i, RestoreCPULimit, pod.Limit.Before, at, at+gains)
	return true
}
