package eviction

import (
	"slices"

	"koordinator.sh/koord/decision/core/podrequest"
)

// ReleaseContainers chooses containers to end until what they request makes up an amount: those of the lowest priority first, and of equal ones
// those that lose the least work. Containers that release nothing of what is still wanted stay. It returns what is released in all, which
// is less than wanted when all containers together request less.
func ReleaseContainers(containers []Pod, wanted podrequest.Amount) ([]Ref, podrequest.Amount) {
	candidates := make([]Candidate, 0, len(containers))
	for i := range containers {
		if container := &containers[i]; container.Active && !container.Leaving {
			keys := []Key{{Name: KeyPriority, Value: float64(container.Priority)}, {Name: KeyWork, Value: container.Work}}
			candidates = append(candidates, Candidate{Pod: container.Ref, Keys: keys, index: i})
		}
	}
	slices.SortFunc(candidates, compareCandidates)
	var chosen []Ref
	var released podrequest.Amount
	for _, candidate := range candidates {
		requests := containers[candidate.index].Requests.Batch
		helpsCPU := released.MilliCPU < wanted.MilliCPU && requests.MilliCPU > 0
		helpsMemory := released.Memory < wanted.Memory && requests.Memory > 0
		if helpsCPU || helpsMemory {
			chosen, released = append(chosen, candidate.Pod), released.Add(requests)
		}
	}
	return chosen, released
}
