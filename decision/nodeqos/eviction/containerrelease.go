package eviction

import (
	"slices"

	"koordinator.sh/koord/decision/core/podrequest"
)

// ReleaseContainers chooses containers to end until what they request makes up an amount, in the order of LeastLossFirst. Containers that
// release nothing of what is still wanted stay. It returns what is released in all, which is less than wanted when all containers together
// request less.
func ReleaseContainers(containers []Pod, wanted podrequest.Amount) ([]Ref, podrequest.Amount) {
	var chosen []Ref
	var released podrequest.Amount
	for _, container := range LeastLossFirst(containers) {
		requests := container.Requests.Batch
		helpsCPU := released.MilliCPU < wanted.MilliCPU && requests.MilliCPU > 0
		helpsMemory := released.Memory < wanted.Memory && requests.Memory > 0
		if container.Active && !container.Leaving && (helpsCPU || helpsMemory) {
			chosen, released = append(chosen, container.Ref), released.Add(requests)
		}
	}
	return chosen, released
}

// LeastLossFirst returns containers in the order in which they go: those of the lowest priority first, and of equal ones those that lose
// the least work.
func LeastLossFirst(containers []Pod) []Pod {
	candidates := make([]Candidate, len(containers))
	for i := range containers {
		keys := []Key{{Name: KeyPriority, Value: float64(containers[i].Priority)}, {Name: KeyWork, Value: containers[i].Work}}
		candidates[i] = Candidate{Pod: containers[i].Ref, Keys: keys, index: i}
	}
	slices.SortFunc(candidates, compareCandidates)
	out := make([]Pod, len(containers))
	for i, candidate := range candidates {
		out[i] = containers[candidate.index]
	}
	return out
}
