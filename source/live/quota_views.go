package live

import (
	"cmp"
	"context"
	"slices"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/finding"
	schedulingsigsv1alpha1 "koordinator.sh/koord/api/schedulingsigs/v1alpha1"
	"koordinator.sh/koord/source"
	"koordinator.sh/koord/source/objects"
)

var _ source.QuotaViewer = (*Source)(nil)

// QuotaOverviews lists the ElasticQuotas that a query selects.
func (s *Source) QuotaOverviews(ctx context.Context, query source.QuotaQuery) (*diagnosticsv1alpha1.QuotaOverviewList, error) {
	c, err := s.connect()
	if err != nil {
		return nil, err
	}
	by := selection{namespace: query.Namespace, labels: query.LabelSelector}
	if len(query.Names) == 1 {
		by.fields = equals("metadata.name", query.Names[0])
	}
	found, err := c.elasticQuotas(ctx, by)
	if err != nil {
		return nil, err
	}
	nameOf := func(q *schedulingsigsv1alpha1.ElasticQuota) string { return q.Name }
	if found, err = named(found, query.Names, nameOf, func(name string) error { return c.missingQuota(ctx, query.Namespace, name) }); err != nil {
		return nil, err
	}
	quotas := objects.Quotas(found)
	slices.SortFunc(quotas, func(a, b source.Quota) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	for i := range quotas {
		quotas[i].Depth, quotas[i].Misplaced = 0, "" // the place in the tree follows from all quotas, which were not asked for
	}
	return quotaList(quotas, nil), nil
}

func quotaList(quotas []source.Quota, incomplete []string) *diagnosticsv1alpha1.QuotaOverviewList {
	list := &diagnosticsv1alpha1.QuotaOverviewList{TypeMeta: kind("QuotaOverviewList"), Items: objects.QuotaOverviews(quotas), Incomplete: incomplete}
	for i := range list.Items {
		list.Items[i].TypeMeta = kind("QuotaOverview")
	}
	return list
}

// missingQuota makes the error for a name that does not exist, with the nearest one that does.
func (c *clients) missingQuota(ctx context.Context, namespace, name string) error {
	client, err := c.of(source.KindQuota)
	if err != nil {
		return err
	}
	r := requestFor("list", source.KindQuota, namespace)
	r.name = name
	return missingAmong(ctx, client, r, "koordctl top quotas -A")
}

// QuotaTree lists all ElasticQuotas as a tree, or a quota with those below it.
func (s *Source) QuotaTree(ctx context.Context, namespace, name string) (*diagnosticsv1alpha1.QuotaOverviewList, error) {
	c, err := s.connect()
	if err != nil {
		return nil, err
	}
	found, incomplete, err := c.allQuotas(ctx, namespace, "parents in other namespaces are not found")
	if err != nil {
		return nil, err
	}
	quotas := objects.Quotas(found)
	if name != "" {
		if quotas = objects.SubtreeOf(quotas, namespace, name); quotas == nil {
			return nil, c.missingQuota(ctx, namespace, name)
		}
	}
	return quotaList(quotas, incomplete), nil
}

// allQuotas lists the ElasticQuotas of all namespaces. Without the permission for that, it lists those of one, and says so with the
// consequence.
func (c *clients) allQuotas(ctx context.Context, namespace, consequence string) ([]schedulingsigsv1alpha1.ElasticQuota, []string, error) {
	found, err := c.elasticQuotas(ctx, selection{})
	if !hasCode(err, finding.Forbidden) || namespace == "" {
		return found, nil, err
	}
	denied := text(err, consequence)
	if found, err = c.elasticQuotas(ctx, selection{namespace: namespace}); err != nil {
		return nil, nil, err
	}
	return found, []string{denied}, nil
}
