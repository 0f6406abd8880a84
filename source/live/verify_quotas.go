package live

import (
	"context"
	"slices"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/decision/scheduling/quotaview"
	"koordinator.sh/koord/source"
	"koordinator.sh/koord/source/objects"
)

var _ source.QuotaVerifier = (*Source)(nil)

// VerifyQuotas reads what an explanation of a quota needs, and compares it with what the quotas say.
func (s *Source) VerifyQuotas(ctx context.Context, namespace, name string) (*diagnosticsv1alpha1.QuotaVerification, error) {
	c, err := s.connect()
	if err != nil {
		return nil, err
	}
	var in quotaview.Input
	missing, err := s.readQuotaInput(ctx, c, namespace, &in, podListDrop)
	if err != nil {
		return nil, err
	}
	quotas := objects.Quotas(in.Objects)
	if name != "" {
		at := slices.IndexFunc(quotas, func(q source.Quota) bool { return q.Namespace == namespace && q.Name == name })
		if at < 0 {
			return nil, c.missingQuota(ctx, namespace, name)
		}
		quotas = quotas[at : at+1]
	}
	answer := quotaview.Verify(in, quotas)
	answer.TypeMeta, answer.Incomplete = kind("QuotaVerification"), missing
	if answer.Name = name; name != "" {
		answer.Namespace = namespace
	}
	return answer, nil
}
