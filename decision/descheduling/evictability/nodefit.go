package evictability

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/labels"

	"koordinator.sh/koord/decision/scheduling/nodefit"
)

// nodeFit asks the nodes until one takes the pod. The refusals of the others are counted by their reasons.
func nodeFit(in *Input) string {
	if !in.Policy.NodeFit {
		return ""
	}
	pod, asked, reasons := nodefit.NewPod(in.Pod), 0, map[string]int{}
	for _, node := range in.Nodes {
		if node.Name == in.Pod.Spec.NodeName || in.Policy.NodeSelector != nil && !in.Policy.NodeSelector.Matches(labels.Set(node.Labels)) {
			continue
		}
		refusals := nodefit.Decide(nodefit.Input{Pod: pod, Node: node.Node, Pods: node.Pods})
		if len(refusals) == 0 {
			return ""
		}
		asked++
		reasons[refusals[0].Reason]++
	}
	if asked == 0 {
		return "there is no other node that it could move to, and nodeFit is true"
	}
	return fmt.Sprintf("none of %d other nodes takes it, and nodeFit is true: %s", asked, summary(reasons))
}

// summary of reasons, the most frequent first.
func summary(reasons map[string]int) string {
	ordered := slices.SortedFunc(maps.Keys(reasons), func(a, b string) int {
		return cmp.Or(cmp.Compare(reasons[b], reasons[a]), cmp.Compare(a, b))
	})
	var parts []string
	for _, reason := range ordered {
		parts = append(parts, fmt.Sprintf("%d %s", reasons[reason], reason))
	}
	return strings.Join(parts, ", ")
}
