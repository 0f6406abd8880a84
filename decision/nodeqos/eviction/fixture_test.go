package eviction

import (
	"time"

	"koordinator.sh/koord/api/extension"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	"koordinator.sh/koord/decision/core/freshness"
	"koordinator.sh/koord/decision/core/podrequest"
)

var noon = time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)

const giga = int64(1_000_000_000)

// batch is a best-effort pod.
func batch(name string, priority int32, requestMilli, usedMilli, usedMemory int64) Pod {
	return Pod{
		Ref: Ref{Namespace: "spark", Name: name}, QoS: extension.QoSBE, Band: extension.PriorityBatch, Priority: priority, SubPriority: int64(priority),
		Active: true, Requests: podrequest.Tiers{Batch: podrequest.Amount{MilliCPU: requestMilli, Memory: usedMemory}},
		Used: &podrequest.Amount{MilliCPU: usedMilli, Memory: usedMemory},
	}
}

// service is a pod above best effort that agrees to be evicted.
func service(name string, priority int32, used podrequest.Amount) Pod {
	return Pod{
		Ref: Ref{Namespace: "shop", Name: name}, QoS: extension.QoSLS, Band: extension.PriorityMid, Priority: priority, SubPriority: int64(priority),
		Active: true, Agrees: true, Requests: podrequest.Tiers{Mid: used}, Used: &used,
	}
}

// node has 100 CPUs and 120 G, and offers 40 CPUs and 60 G of batch and half of that of mid.
func node(usedMilli, usedMemory int64) Node {
	return Node{
		Observation: freshness.Observation{At: noon, Period: time.Second},
		Capacity:    podrequest.Amount{MilliCPU: 100_000, Memory: 120 * giga},
		Used:        podrequest.Amount{MilliCPU: usedMilli, Memory: usedMemory},
		Offers: map[podrequest.Tier]Offer{
			podrequest.Batch: {Amount: podrequest.Amount{MilliCPU: 40_000, Memory: 60 * giga}},
			podrequest.Mid:   {Amount: podrequest.Amount{MilliCPU: 20_000, Memory: 30 * giga}},
			podrequest.Plain: {Amount: podrequest.Amount{MilliCPU: 90_000, Memory: 110 * giga}},
		},
	}
}

func only(features ...Feature) map[Feature]bool {
	on := map[Feature]bool{}
	for _, feature := range features {
		on[feature] = true
	}
	return on
}

func all() map[Feature]bool { return only(Features()...) }

// input decides without bounds.
func input(on map[Feature]bool, node Node, strategy slov1alpha1.ResourceThresholdStrategy, pods ...Pod) Input {
	strategy.Enable = new(true)
	return Input{Now: noon, Strategy: &strategy, On: on, Node: node, Pods: pods, Budget: Unlimited()}
}

func names(victims []Victim) []string {
	var out []string
	for _, victim := range victims {
		out = append(out, victim.Pod.Name)
	}
	return out
}

// outcomeOf finds the outcome of a feature and, for requests, of a tier.
func outcomeOf(plan Plan, feature Feature, tier podrequest.Tier) Outcome {
	for _, outcome := range plan.Outcomes {
		if outcome.Feature == feature && outcome.Tier == tier {
			return outcome
		}
	}
	return Outcome{}
}
