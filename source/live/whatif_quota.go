package live

import (
	"context"
	"slices"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	schedulingsigsv1alpha1 "koordinator.sh/koord/api/schedulingsigs/v1alpha1"
	"koordinator.sh/koord/decision/scheduling/quotaview"
	"koordinator.sh/koord/source"
	"koordinator.sh/koord/source/objects"
)

var _ source.QuotaForecaster = (*Source)(nil)

// ForecastQuota reads what an explanation of the quota needs, and divides as koord-scheduler does, before and after the change.
func (s *Source) ForecastQuota(ctx context.Context, namespace, name string, edits quotaview.Edits, limit int) (*diagnosticsv1alpha1.QuotaForecast, error) {
	c, err := s.connect()
	if err != nil {
		return nil, err
	}
	change := quotaview.Change{Input: quotaview.Input{Limit: limit}}
	missing, err := s.readQuotaInput(ctx, c, namespace, &change.Input, podListDrop)
	if err != nil {
		return nil, err
	}
	at := slices.IndexFunc(change.Objects, func(q schedulingsigsv1alpha1.ElasticQuota) bool { return q.Namespace == namespace && q.Name == name })
	if at < 0 {
		return nil, c.missingQuota(ctx, namespace, name)
	}
	if change.To, change.Edits, err = edits.Apply(&change.Objects[at]); err != nil {
		return nil, err
	}
	answer := objects.ForecastQuota(change)
	answer.TypeMeta, answer.Incomplete = kind("QuotaForecast"), missing
	return answer, nil
}
