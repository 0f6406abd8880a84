package numa

import (
	corev1 "k8s.io/api/core/v1"

	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/decision/core/capacity"
	"koordinator.sh/koord/decision/scheduling/resourcescore"
)

// MaxScore of a node.
const MaxScore = resourcescore.MaxScore

// hintScore rates a set of zones for one resource, with the weight of the resource: what ScoringStrategy says of nodes,
// NUMAScoringStrategy says of zones. Zones on which the pod would meet pods of the other kind count half when the pod
// prefers not to.
func (in *Input) hintScore(mask Mask, demand resourcescore.Demand) int64 {
	if demand.Strategy.Weight == 0 {
		return 0
	}
	score := demand.Strategy.Weight * resourcescore.FitPlus([]resourcescore.Demand{demand})
	if in.Request.ZoneExclusive == extension.NumaTopologyExclusivePreferred && in.Ledger.mixes(mask) {
		score /= 2
	}
	return score
}

func (s *ScoringStrategy) weight(name corev1.ResourceName) int64 {
	for _, resource := range s.Resources {
		if resource.Name == name {
			return resource.Weight
		}
	}
	return 0
}

// Usage is what a node has of a resource, and what its pods requested of it.
type Usage struct {
	Allocatable, Requested int64
}

// Score rates a node that passed Filter, 0 to MaxScore: for a pod that is aligned, by the zones it would take and
// NUMAScoringStrategy; otherwise by the whole node and ScoringStrategy, with the cpu of bound pods at its amplified size.
// Usage is that of the whole node, by resource.
func Score(in Input, hint Hint, usage func(corev1.ResourceName) Usage) int64 {
	t, verdict := agree(in.Request, in.Ledger.Node)
	if !verdict.Passed() {
		return 0
	}
	if t.align != extension.NUMATopologyPolicyNone && len(in.Ledger.Zones) > 0 {
		return resourcescore.FitPlus(in.zoneDemands(t, hint))
	}
	demands := make([]resourcescore.Demand, 0, len(in.Args.ScoringStrategy.Resources))
	for _, resource := range in.Args.ScoringStrategy.Resources {
		found := usage(resource.Name)
		if found.Allocatable == 0 {
			continue
		}
		if resource.Name == corev1.ResourceCPU {
			owned := int64(in.Ledger.Owned.Len()) * 1000
			found.Requested += capacity.Amplify(owned, in.Ledger.Node.Ratio) - owned
		}
		demands = append(demands, resourcescore.Demand{
			Strategy: resourcescore.WeightedStrategy{Type: in.Args.ScoringStrategy.Type, Weight: resource.Weight},
			Request:  in.wanted(t, resource.Name), Requested: found.Requested, Allocatable: found.Allocatable,
		})
	}
	return resourcescore.FitPlus(demands)
}

func (in *Input) zoneDemands(t terms, hint Hint) []resourcescore.Demand {
	mask := hint.Mask
	if mask == 0 {
		mask = in.Ledger.Node.mask()
	}
	var demands []resourcescore.Demand
	for _, resource := range in.Args.NUMAScoringStrategy.Resources {
		supply := in.supplyOf(t, resource.Name)
		if demand := supply.demand(supply.sum(mask)); demand.Allocatable > 0 {
			demands = append(demands, demand)
		}
	}
	return demands
}
