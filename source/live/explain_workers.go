package live

import (
	"context"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/finding"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	"koordinator.sh/koord/decision/noderesource/workersview"
	"koordinator.sh/koord/source"
)

var _ source.WorkersExplainer = (*Source)(nil)

// ExplainWorkers reads ElasticWorkers, in whose status the decision of koord-manager and its trace are. Nobody has to see the nodes and the
// pods of others for it.
func (s *Source) ExplainWorkers(ctx context.Context, namespace, name string) (*diagnosticsv1alpha1.WorkersExplanation, error) {
	c, err := s.connect()
	if err != nil {
		return nil, err
	}
	object := &schedulingv1alpha1.ElasticWorkers{}
	r := requestFor("get", source.KindWorkers, namespace)
	r.name = name
	if err := getJSON(ctx, c.scheduling, r, object); err != nil {
		if hasCode(err, finding.NotFound) {
			return nil, missingAmong(ctx, c.scheduling, r, "kubectl get "+r.qualified()+" -n "+namespace)
		}
		return nil, err
	}
	answer := workersview.Explain(workersview.Input{Now: s.options.Clock.Now(), Object: object})
	answer.TypeMeta = kind("WorkersExplanation")
	return &answer, nil
}
