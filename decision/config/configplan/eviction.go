package configplan

import (
	"time"

	"koordinator.sh/koord/api/extension"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	"koordinator.sh/koord/decision/core/podrequest"
	"koordinator.sh/koord/decision/nodeqos/eviction"
	"koordinator.sh/koord/decision/nodeqos/nodefeature"
	"koordinator.sh/koord/decision/nodeqos/suppression"
	"koordinator.sh/koord/decision/noderesource/overcommit"
)

// evicted are the pods that thresholds evict. Neither budget nor cool-down is known here: what is listed is everything that
// would go in the end.
func (p *pressure) evicted(strategy *slov1alpha1.ResourceThresholdStrategy, offers overcommit.Result, budget suppression.Budget) []PodEffect {
	on := map[eviction.Feature]bool{}
	for _, feature := range nodefeature.OfKind(nodefeature.Eviction) {
		on[eviction.Feature(feature.Name)] = p.runs(&feature)
	}
	node := p.node
	node.Offers = map[podrequest.Tier]eviction.Offer{
		podrequest.Batch: offerOf(offers.BatchCPU, offers.BatchMemory),
		podrequest.Mid:   offerOf(offers.MidCPU, offers.MidMemory),
		podrequest.Plain: {Amount: amount(p.in.node.Node.Status.Allocatable)},
	}
	plan := eviction.Decide(eviction.Input{
		Now: p.in.node.Now, Strategy: strategy, On: on, Node: node, Pods: p.pods, BestEffort: p.satisfaction(strategy, budget), Budget: eviction.Unlimited(),
	}, nil)
	var out []PodEffect
	for _, victim := range plan.Victims {
		out = append(out, p.effect(victim.Pod, Evicted, string(victim.Feature), victim.Reason))
	}
	return out
}

// offerOf is the offer of one tier; one that is withdrawn in a part is withdrawn.
func offerOf(cpu, memory overcommit.Value) eviction.Offer {
	out := eviction.Offer{Amount: podrequest.Amount{MilliCPU: offered(cpu), Memory: offered(memory)}}
	for _, value := range []overcommit.Value{cpu, memory} {
		if value.Withdrawn && out.Withdrawn == "" {
			out.Withdrawn = value.Reason
		}
	}
	return out
}

// satisfaction is what best-effort pods get once suppression has taken effect, now and on average, because it stays so.
func (p *pressure) satisfaction(strategy *slov1alpha1.ResourceThresholdStrategy, budget suppression.Budget) *eviction.Satisfaction {
	cpu := eviction.BestEffortCPU{Limit: max(budget.Milli, suppression.LeastMilli(strategy)), Used: budget.BestEffortUsed}
	for i := range p.pods {
		if pod := &p.pods[i]; pod.QoS == extension.QoSBE {
			cpu.Request += pod.Requests.Batch.MilliCPU
		}
	}
	// One sample that is longer than any window.
	return &eviction.Satisfaction{Average: cpu, Current: cpu, Samples: 1, Interval: 24 * time.Hour}
}
