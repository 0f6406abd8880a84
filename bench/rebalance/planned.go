package main

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"

	"koordinator.sh/koord/decision/descheduling/rebalance"
)

// planned is LoadAwareRebalancing.
type planned struct {
	args      *rebalance.Args
	observed  *rebalance.Observations
	workloads []rebalance.Workload
	indexOf   map[string]int
	systems   []string
}

func newPlanned(d *day, args *rebalance.Args) *planned {
	p := &planned{args: args, observed: rebalance.NewObservations(2, args.Horizon.Duration), indexOf: map[string]int{}}
	for _, pod := range d.pods {
		if _, known := p.indexOf[pod.workload]; !known {
			p.indexOf[pod.workload] = len(p.workloads)
			p.workloads = append(p.workloads, rebalance.Workload{Key: pod.workload, Replicas: replicas})
		}
	}
	for n := range d.nodes {
		p.systems = append(p.systems, "system/"+nodeName(n))
	}
	return p
}

func (p *planned) between(c *cluster) {
	now := timeOf(c.minute)
	for i := range c.pods {
		p.observed.Observe(c.pods[i].name, []float64{float64(c.pods[i].cpu[c.minute]), float64(c.pods[i].memory)}, now)
	}
	for _, system := range p.systems {
		p.observed.Observe(system, []float64{systemCPU, systemMemory}, now)
	}
}

func (p *planned) pass(c *cluster) {
	plan := rebalance.Decide(p.input(c), nil)
	leaving := map[int]int{}
	for _, move := range plan.Moves() {
		if !c.may(move.Pod, leaving) {
			continue
		}
		leaving[move.From]++
		c.move(move.Pod, move.To)
	}
}

func (p *planned) input(c *cluster) rebalance.Input {
	in := rebalance.Input{
		Args: p.args, Now: timeOf(c.minute), Resources: []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory}, Workloads: p.workloads, History: c.moves,
	}
	for n := range c.nodes {
		names := []string{p.systems[n]}
		for _, i := range c.byNode[n] {
			names = append(names, c.pods[i].name)
		}
		in.Nodes = append(in.Nodes, rebalance.Node{
			Name: nodeName(n), Capacity: []float64{nodeCPU, nodeMemory}, Usage: p.observed.PeakOfSum(names), Limit: []float64{schedulerCPU, schedulerMemory},
		})
	}
	for i := range c.pods {
		in.Pods = append(in.Pods, rebalance.Pod{
			Name: c.pods[i].name, Node: c.on[i], Workload: p.indexOf[c.pods[i].workload], Usage: p.observed.Peak(c.pods[i].name),
			Priority: 9000, Started: timeOf(c.since[i]), Readiness: 30 * time.Second,
		})
	}
	in.Feasible = func(_, node int, moves []rebalance.Move) (string, bool) {
		more := 1
		for _, move := range moves {
			if move.To == node {
				more++
			}
		}
		if !c.fits(node, more) {
			return "Insufficient cpu", false
		}
		return "node(s) cpu usage exceed threshold", c.cpu[node]/nodeCPU <= schedulerCPU
	}
	return in
}

func nodeName(n int) string { return fmt.Sprintf("node-%03d", n) }
