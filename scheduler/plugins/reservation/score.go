package reservation

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"

	decision "koordinator.sh/koord/decision/scheduling/reservation"
	"koordinator.sh/koord/scheduler/recovery"
)

// PreScore skips pods for which no reservation is nominated.
func (p *Plugin) PreScore(_ context.Context, state fwk.CycleState, pod *corev1.Pod, _ []fwk.NodeInfo) (status *fwk.Status) {
	defer recovery.Status(Name, recovery.PreScore, pod, &status)
	c := cycleOf(state)
	if c == nil || c.ahead == nil && !c.nominated() {
		return fwk.NewStatus(fwk.Skip)
	}
	return nil
}

func (c *cycle) nominated() bool {
	for _, offer := range c.nodes {
		if offer.chosen != nil {
			return true
		}
	}
	return false
}

// Score prefers the reservation with the smallest order, then those that the pod fills best.
func (p *Plugin) Score(_ context.Context, state fwk.CycleState, pod *corev1.Pod, info fwk.NodeInfo) (score int64, status *fwk.Status) {
	defer recovery.Status(Name, recovery.Score, pod, &status)
	c, node := cycleOf(state), info.Node().Name
	switch {
	case c == nil:
		return 0, nil
	case c.ahead != nil:
		return p.scoreAhead(len(c.ahead[node])), nil
	}
	return c.scoreOf(node), nil
}

// scoreAhead prefers nodes on which few pods give up their room, and nodes on which none has to only if the arguments say so.
func (p *Plugin) scoreAhead(giving int) int64 {
	if giving == 0 && !p.args.PreAllocationConfig.PreferNoPreAllocatedPods {
		return 0
	}
	return decision.PreAllocationScore(giving)
}

func (c *cycle) scoreOf(node string) int64 {
	offer := c.nodes[node]
	switch {
	case offer == nil || offer.chosen == nil:
		return 0
	case c.first > 0 && offer.chosen.Order == c.first:
		return decision.MostPreferred
	}
	return offer.score
}

// ScoreExtensions normalizes scores to at most 100.
func (p *Plugin) ScoreExtensions() fwk.ScoreExtensions { return p }

// NormalizeScore implements fwk.ScoreExtensions.
func (p *Plugin) NormalizeScore(_ context.Context, _ fwk.CycleState, pod *corev1.Pod, scores fwk.NodeScoreList) (status *fwk.Status) {
	defer recovery.Status(Name, recovery.Normalize, pod, &status)
	var highest int64
	for _, score := range scores {
		highest = max(highest, score.Score)
	}
	for i := range scores {
		if highest > fwk.MaxScore {
			scores[i].Score = scores[i].Score * fwk.MaxScore / highest
		}
	}
	return nil
}
