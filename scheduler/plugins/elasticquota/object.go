package elasticquota

import (
	"context"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/decision/scheduling/quotaview"
	"koordinator.sh/koord/scheduler/state/quotas"
	"koordinator.sh/koord/source/objects"
)

// explainQuota answers where the runtime of an ElasticQuota comes from, out of what the scheduler watches.
func explainQuota(state *quotas.State) func(context.Context, string, string) (any, error) {
	return func(_ context.Context, namespace, name string) (any, error) {
		if !state.Served() {
			return nil, apierrors.NewServiceUnavailable("koord-scheduler has not read the ElasticQuotas, or the cluster has none")
		}
		in := state.Snapshot()
		arranged := objects.Quotas(in.Objects)
		at := slices.IndexFunc(arranged, func(q quotaview.Quota) bool { return q.Namespace == namespace && q.Name == name })
		if at < 0 {
			return nil, apierrors.NewNotFound(quotas.Kind.Resource.GroupResource(), name)
		}
		in.Quota, in.Limit = &arranged[at], diagnosticsv1alpha1.MaxQuotaPods
		answer := quotaview.Explain(in)
		answer.APIVersion, answer.Kind = diagnosticsv1alpha1.GroupVersion.String(), "QuotaExplanation"
		return answer, nil
	}
}
