package rebalance

import (
	corev1 "k8s.io/api/core/v1"

	"koordinator.sh/koord/decision/scheduling/nodefit"
)

// NodeFit asks the filters of Kubernetes' scheduler that need no more than API objects: cordons, taints, node affinity, host ports and
// requests. Nodes and pods have the order of the input, and pods on other nodes may follow. It is for callers without a scheduler to ask.
func NodeFit(nodes []*corev1.Node, pods []*corev1.Pod, nodeOf func(pod int) int) Feasibility {
	byNode := make([][]int, len(nodes))
	for i := range pods {
		if n := nodeOf(i); n >= 0 {
			byNode[n] = append(byNode[n], i)
		}
	}
	return func(pod, node int, moves []Move) (string, bool) {
		gone := map[int]bool{}
		var others []*corev1.Pod
		for _, move := range moves {
			switch node {
			case move.From:
				gone[move.Pod] = true
			case move.To:
				others = append(others, pods[move.Pod])
			}
		}
		for _, i := range byNode[node] {
			if i != pod && !gone[i] {
				others = append(others, pods[i])
			}
		}
		placed := pods[pod].DeepCopy()
		placed.Spec.NodeName = ""
		found := nodefit.Decide(nodefit.Input{Pod: nodefit.NewPod(placed), Node: nodes[node], Pods: others})
		if len(found) == 0 {
			return "", true
		}
		return found[0].Reason, false
	}
}
