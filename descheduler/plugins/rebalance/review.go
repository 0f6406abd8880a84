package rebalance

import (
	"context"
	"errors"
	"fmt"

	"k8s.io/klog/v2"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/decision/descheduling/rebalance"
)

// decide plans a pass. The error says why koord-scheduler could not be asked; the plan is valid all the same.
func (p *Plugin) decide(ctx context.Context, v *view, trace *rebalance.Trace) (rebalance.Plan, error) {
	if p.args.SchedulerReview == rebalance.ReviewNever {
		return rebalance.Decide(v.in, trace), nil
	}
	plan, err := rebalance.DecideReviewed(v.in, func(proposals []rebalance.Proposal) ([]rebalance.Opinion, error) {
		return p.review(ctx, v, proposals)
	}, trace)
	if err != nil && p.args.SchedulerReview == rebalance.ReviewPreferred {
		return rebalance.Decide(v.in, trace), err
	}
	return plan, err
}

// review asks koord-scheduler about all moves in one request.
func (p *Plugin) review(ctx context.Context, v *view, proposals []rebalance.Proposal) ([]rebalance.Opinion, error) {
	if p.sources.Review == nil {
		return nil, errors.New("koord-descheduler has no flag --scheduler-endpoint")
	}
	answer, err := p.sources.Review(ctx, question(v, proposals))
	if err != nil {
		return nil, err
	}
	// What was assumed and not bound yet is known to the leader alone.
	if !answer.Status.Origin.Leader {
		return nil, errors.New("no leading koord-scheduler answered")
	}
	if len(answer.Status.Placements) != len(proposals) {
		return nil, fmt.Errorf("koord-scheduler answered for %d pods, %d were asked about", len(answer.Status.Placements), len(proposals))
	}
	for _, missing := range answer.Status.Incomplete {
		klog.FromContext(ctx).V(2).Info("koord-scheduler could not evaluate everything", "missing", missing)
	}
	return opinions(v, answer.Status.Placements), nil
}

// maxNodes is how many nodes are named with each reason of a refusal: all targets of a pod.
const maxNodes = diagnosticsv1alpha1.MaxPlacementReviewTargets

func question(v *view, proposals []rebalance.Proposal) *diagnosticsv1alpha1.PlacementReview {
	review := &diagnosticsv1alpha1.PlacementReview{Spec: diagnosticsv1alpha1.PlacementReviewSpec{MaxNodes: new(int32(maxNodes))}}
	for _, proposal := range proposals {
		pod := v.pods[proposal.Pod]
		asked := diagnosticsv1alpha1.PlacementReviewPod{Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID}
		for _, target := range proposal.Targets {
			asked.Targets = append(asked.Targets, v.in.Nodes[target].Name)
		}
		review.Spec.Pods = append(review.Spec.Pods, asked)
	}
	return review
}

func opinions(v *view, placements []diagnosticsv1alpha1.PodPlacement) []rebalance.Opinion {
	nodes := make(map[string]int, len(v.in.Nodes))
	for n := range v.in.Nodes {
		nodes[v.in.Nodes[n].Name] = n
	}
	out := make([]rebalance.Opinion, len(placements))
	for i := range placements {
		placement := &placements[i]
		out[i].Node = -1
		switch placement.Verdict {
		case diagnosticsv1alpha1.PlacementFound:
			if n, known := nodes[placement.Node]; known {
				out[i].Node = n
			}
		case diagnosticsv1alpha1.PlacementNone:
			out[i].Reasons = map[int]string{}
			for _, group := range placement.Groups {
				for _, refused := range group.Nodes {
					if n, known := nodes[refused.Node]; known && out[i].Reasons[n] == "" {
						out[i].Reasons[n] = group.Reason
					}
				}
			}
		default:
			out[i].Immovable = placement.Summary
		}
	}
	return out
}
