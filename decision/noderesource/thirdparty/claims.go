package thirdparty

import (
	"cmp"
	"slices"
)

// Candidate is a node on which a pod that waits may be placed.
type Candidate struct {
	// Free is what neither pods nor the engine use, ForPods the part of it that is for pods.
	Free, ForPods Amount
}

// Claims says which nodes must leave all that is free to pods, by their index: for each pod that waits and fits nowhere as things are,
// largest first, one node on which it would fit; of several the one with the least to spare. While the engine has something waiting, too,
// at most 100 - sharePercent percent of the nodes are claimed, and at least one. Whether the pod may run on the node otherwise is not
// looked at, and so a pod that waits for another reason claims no more than one node.
func Claims(nodes []Candidate, waiting []Amount, engineWaits bool, sharePercent int64) map[int]bool {
	most := len(nodes)
	if engineWaits {
		most = max(int(portion(int64(len(nodes)), 100-min(max(sharePercent, 0), 100))), 1)
	}
	waiting = slices.Clone(waiting)
	slices.SortFunc(waiting, func(a, b Amount) int {
		return cmp.Or(cmp.Compare(b.Memory, a.Memory), cmp.Compare(b.MilliCPU, a.MilliCPU))
	})
	claimed := map[int]bool{}
	for _, pod := range waiting {
		if len(claimed) >= most {
			break
		}
		if slices.ContainsFunc(nodes, func(n Candidate) bool { return within(pod, n.ForPods) }) {
			continue
		}
		best := -1
		for i, n := range nodes {
			if !claimed[i] && within(pod, n.Free) && (best < 0 || n.Free.Memory < nodes[best].Free.Memory) {
				best = i
			}
		}
		if best >= 0 {
			claimed[best] = true
		}
	}
	return claimed
}

func within(a, b Amount) bool { return a.MilliCPU <= b.MilliCPU && a.Memory <= b.Memory }
