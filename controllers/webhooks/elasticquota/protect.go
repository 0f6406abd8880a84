package elasticquota

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"koordinator.sh/koord/decision/admission/quotaadmission"
)

// mostRounds bounds how often a request is judged again because what it needs has changed meanwhile, such as the parent that it names.
const mostRounds = 3

// admit judges a request with the rights of who makes it.
func (v *Validator) admit(ctx context.Context, request admission.Request, in quotaadmission.Input) (quotaadmission.Verdict, error) {
	dryRun := request.DryRun != nil && *request.DryRun
	for round := 1; ; round++ {
		for _, right := range v.Registry.rights(in) {
			if _, known := in.Held[right]; known || v.Access == nil {
				continue
			}
			held, err := v.Access.Allowed(ctx, request.UserInfo, right)
			if err != nil {
				return quotaadmission.Verdict{}, err
			}
			if in.Held == nil {
				in.Held = map[quotaadmission.Right]bool{}
			}
			in.Held[right] = held
		}
		verdict := v.Registry.Admit(ctx, in, dryRun)
		if !verdict.Refused() || round == mostRounds || !v.news(in) {
			return verdict, nil
		}
	}
}

// news is true where a right matters that was not asked about.
func (v *Validator) news(in quotaadmission.Input) bool {
	for _, right := range v.Registry.rights(in) {
		if _, known := in.Held[right]; !known {
			return v.Access != nil
		}
	}
	return false
}

// rights are what the request needs among the quotas there are now.
func (r *Registry) rights(in quotaadmission.Input) []quotaadmission.Right {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.expire()
	in.Quotas = r.index
	return quotaadmission.Rights(in)
}

// total is what all nodes have, for a quota that may ask for more than that; nil otherwise.
func (v *Validator) total(ctx context.Context, in quotaadmission.Input) (corev1.ResourceList, error) {
	if v.Nodes == nil || !quotaadmission.NeedsTotal(in) {
		return nil, nil
	}
	var nodes corev1.NodeList
	if err := v.Nodes.List(ctx, &nodes, client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("list nodes: %w", err)
	}
	sum := corev1.ResourceList{}
	for i := range nodes.Items {
		for name, quantity := range nodes.Items[i].Status.Allocatable {
			total := sum[name]
			total.Add(quantity)
			sum[name] = total
		}
	}
	return sum, nil
}
