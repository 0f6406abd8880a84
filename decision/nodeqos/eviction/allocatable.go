package eviction

import (
	"fmt"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/decision/core/capacity"
	"koordinator.sh/koord/decision/core/podrequest"
	"koordinator.sh/koord/decision/core/waterfall"
)

// tiers in the order in which their requests are compared: what is least guaranteed first.
var tiers = []podrequest.Tier{podrequest.Batch, podrequest.Mid, podrequest.Plain}

// allocatable compares the requests of pods up to a priority with what the node offers, tier by tier.
func (d Demand) allocatable(in *Input, trace *Trace) []Demand {
	most := in.Strategy.AllocatableEvictPriorityThreshold
	var out []Demand
	for _, tier := range tiers {
		requested := int64(0)
		for i := range in.Pods {
			if pod := &in.Pods[i]; pod.Active && !pod.IsContainer() && pod.Priority <= *most {
				requested = waterfall.Add(requested, d.Feature.Resource().of(pod.Requests.Of(tier)))
			}
		}
		if requested > 0 {
			d.Tier = tier
			out = append(out, d.compare(in.Node.Offers, requested, trace))
		}
	}
	if len(out) == 0 {
		return []Demand{d.in(Calm, fmt.Sprintf("no pod with priority %d or lower requests anything", *most))}
	}
	return out
}

// compare requests of a tier with its offer.
func (d Demand) compare(offers map[podrequest.Tier]Offer, requested int64, trace *Trace) Demand {
	offer, offered := offers[d.Tier]
	name := resourceName(d.Tier, d.Feature.Resource())
	switch {
	case !offered:
		return d.in(Unknown, fmt.Sprintf("the node does not offer %s", name))
	case offer.Withdrawn != "":
		return d.in(Unknown, fmt.Sprintf("%s is withdrawn: %s", name, offer.Withdrawn))
	}
	amount := max(d.Feature.Resource().of(offer.Amount), 0)
	d.ObservedPercent = beyond
	if amount > 0 {
		d.ObservedPercent = percentOf(requested, amount)
	}
	if allowed := capacity.Percent(amount, d.ThresholdPercent); requested <= allowed {
		d.Margin = allowed - requested + 1
		return d.in(Calm, fmt.Sprintf("%s requested is %d%% of what the node offers; pods are evicted above %d%%", name, d.ObservedPercent, d.ThresholdPercent))
	}
	w := trace.steps(&d)
	w.Inform("offer", amount, d.Unit, "allocatable "+name)
	w.Step(diagnosticsv1alpha1.Start, "requested", requested, name+" requested")
	w.Step(diagnosticsv1alpha1.Minus, "kept", capacity.Percent(amount, d.TargetPercent), fmt.Sprintf("%d%% of what the node offers may stay requested", d.TargetPercent))
	d.Release = trace.released(&d, &w)
	return d.in(Triggered, fmt.Sprintf("%s requested is more than %d%% of what the node offers", name, d.ThresholdPercent))
}

// resourceName is how Kubernetes names a resource of a tier, without its domain; without a tier, the plain name.
func resourceName(tier podrequest.Tier, resource Resource) string {
	if tier == podrequest.Plain || tier == "" {
		return string(resource)
	}
	return string(tier) + "-" + string(resource)
}
