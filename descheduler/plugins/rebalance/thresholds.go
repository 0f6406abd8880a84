package rebalance

import (
	"context"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	"koordinator.sh/koord/decision/descheduling/rebalance"
	"koordinator.sh/koord/decision/scheduling/loadaware"
)

// others are the thresholds of the other components in one pass.
type others struct {
	// scheduler is nil where its thresholds are not known.
	scheduler *loadaware.Policy
	agents    map[string]*slov1alpha1.ResourceThresholdStrategy
}

func (p *Plugin) others(ctx context.Context) (*others, error) {
	agents, err := p.sources.Strategies(ctx)
	if err != nil {
		return nil, err
	}
	found := &others{agents: agents}
	if p.sources.Scheduler != nil {
		args, err := p.sources.Scheduler(ctx)
		if err != nil {
			return nil, err
		}
		found.scheduler = loadaware.NewPolicy(args)
	}
	return found, nil
}

func (o *others) limits(node *corev1.Node, resources []corev1.ResourceName) []float64 {
	var scheduler map[corev1.ResourceName]int64
	if o.scheduler != nil {
		scheduler = o.scheduler.Limits(node)
	}
	return rebalance.Limits(resources, scheduler, o.agents[node.Name])
}

// patience, in horizons, is how long an agent has to hold best-effort pods back before what they use counts like any other load. Until then,
// predictions still contain what was used before.
const patience = 2

// reclaimable is what the node's agent takes from best-effort pods, unless it should have done so long ago.
func (p *Plugin) reclaimable(v *view, node *rebalance.Node, bestEffort []string, agent *slov1alpha1.ResourceThresholdStrategy) []float64 {
	if since, waits := p.waiting[node.Name]; waits && v.in.Now.Sub(since) >= patience*p.args.Horizon.Duration {
		return nil
	}
	if len(bestEffort) == 0 {
		return nil
	}
	return rebalance.Reclaimable(v.in.Resources, node.Capacity, node.Usage, p.observed.PeakOfSum(bestEffort), agent)
}

// wait remembers since when agents are relied upon to hold best-effort pods back. A node that is no longer overutilized is forgotten.
func (p *Plugin) wait(v *view, plan rebalance.Plan) {
	since, classes := map[string]time.Time{}, rebalance.Classify(v.in)
	for n := range v.in.Nodes {
		node := &v.in.Nodes[n]
		held := slices.ContainsFunc(plan.Steps, func(step rebalance.Step) bool { return step.Remedy == rebalance.HoldBack && step.Node == n })
		if at, waits := p.waiting[node.Name]; waits && (held || classes[n].Class == rebalance.High) {
			since[node.Name] = at
		} else if held {
			since[node.Name] = v.in.Now
		}
	}
	p.waiting = since
}
