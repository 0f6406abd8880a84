package live

import (
	"cmp"
	"context"
	"slices"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	"koordinator.sh/koord/decision/noderesource/workersview"
	"koordinator.sh/koord/source"
)

var _ source.WorkersLister = (*Source)(nil)

// Workers lists the ElasticWorkers that a query selects.
func (s *Source) Workers(ctx context.Context, query source.WorkersQuery) (*diagnosticsv1alpha1.WorkersExplanationList, error) {
	c, err := s.connect()
	if err != nil {
		return nil, err
	}
	by := selection{namespace: query.Namespace, labels: query.LabelSelector}
	if len(query.Names) == 1 {
		by.fields = equals("metadata.name", query.Names[0])
	}
	found, err := c.elasticWorkers(ctx, by)
	if err != nil {
		return nil, err
	}
	nameOf := func(w *schedulingv1alpha1.ElasticWorkers) string { return w.Name }
	if found, err = named(found, query.Names, nameOf, func(name string) error { return c.missingWorkers(ctx, query.Namespace, name) }); err != nil {
		return nil, err
	}
	slices.SortFunc(found, func(a, b schedulingv1alpha1.ElasticWorkers) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	list := &diagnosticsv1alpha1.WorkersExplanationList{TypeMeta: kind("WorkersExplanationList"), Items: make([]diagnosticsv1alpha1.WorkersExplanation, len(found))}
	for i := range found {
		list.Items[i] = workersview.Explain(workersview.Input{Now: s.options.Clock.Now(), Object: &found[i]})
		list.Items[i].TypeMeta = kind("WorkersExplanation")
	}
	return list, nil
}

// elasticWorkers lists ElasticWorkers; where they are not installed, that is an error.
func (c *clients) elasticWorkers(ctx context.Context, by selection) ([]schedulingv1alpha1.ElasticWorkers, error) {
	return list(ctx, c.scheduling, requestFor("list", source.KindWorkers, by.namespace), by, splitJSON, func(raw []byte, into *schedulingv1alpha1.ElasticWorkers) error {
		return unmarshalJSON(raw, managedFieldsDrop, into)
	})
}

// missingWorkers makes the error for a name that does not exist, with the nearest one that does.
func (c *clients) missingWorkers(ctx context.Context, namespace, name string) error {
	r := requestFor("list", source.KindWorkers, namespace)
	r.name = name
	return missingAmong(ctx, c.scheduling, r, "koordctl top workers -n "+namespace)
}
