package rebalance

import (
	"context"
	"errors"

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
	answer, err := p.sources.Review(ctx, &diagnosticsv1alpha1.PlacementReview{Spec: rebalance.Question(&v.in, v.pods, proposals)})
	if err != nil {
		return nil, err
	}
	for _, missing := range answer.Status.Incomplete {
		klog.FromContext(ctx).V(2).Info("koord-scheduler could not evaluate everything", "missing", missing)
	}
	return rebalance.Opinions(&v.in, len(proposals), &answer.Status)
}
