package rebalance

import (
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
)

// Question asks the scheduler about moves. The pods are those of the input, in its order.
func Question(in *Input, pods []*corev1.Pod, proposals []Proposal) diagnosticsv1alpha1.PlacementReviewSpec {
	// All targets of a pod may be refused for one reason.
	spec := diagnosticsv1alpha1.PlacementReviewSpec{MaxNodes: new(int32(diagnosticsv1alpha1.MaxPlacementReviewTargets))}
	for _, proposal := range proposals {
		pod := pods[proposal.Pod]
		asked := diagnosticsv1alpha1.PlacementReviewPod{Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID}
		for _, target := range proposal.Targets {
			asked.Targets = append(asked.Targets, in.Nodes[target].Name)
		}
		spec.Pods = append(spec.Pods, asked)
	}
	return spec
}

// Opinions reads the answer to a Question about so many moves. An answer that is not the leader's is an error, as what was assumed and not
// bound yet is known to it alone, and so is one about another number of pods.
func Opinions(in *Input, proposals int, answer *diagnosticsv1alpha1.PlacementReviewStatus) ([]Opinion, error) {
	if !answer.Origin.Leader {
		return nil, errors.New("no leading koord-scheduler answered")
	}
	if len(answer.Placements) != proposals {
		return nil, fmt.Errorf("koord-scheduler answered for %d pods, %d were asked about", len(answer.Placements), proposals)
	}
	nodes := make(map[string]int, len(in.Nodes))
	for n := range in.Nodes {
		nodes[in.Nodes[n].Name] = n
	}
	out := make([]Opinion, proposals)
	for i := range answer.Placements {
		out[i] = opinionOf(&answer.Placements[i], nodes)
	}
	return out, nil
}

// opinionOf reads the answer about one pod. The nodes are those of the input, by name.
func opinionOf(placement *diagnosticsv1alpha1.PodPlacement, nodes map[string]int) Opinion {
	out := Opinion{Node: -1}
	switch placement.Verdict {
	case diagnosticsv1alpha1.PlacementFound:
		if n, known := nodes[placement.Node]; known {
			out.Node = n
		}
	case diagnosticsv1alpha1.PlacementNone:
		out.Reasons = map[int]string{}
		for _, group := range placement.Groups {
			for _, refused := range group.Nodes {
				if n, known := nodes[refused.Node]; known && out.Reasons[n] == "" {
					out.Reasons[n] = group.Reason
				}
			}
		}
	default:
		out.Immovable = placement.Summary
	}
	return out
}
