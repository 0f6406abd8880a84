package live

import (
	"context"

	schedulingsigsv1alpha1 "koordinator.sh/koord/api/schedulingsigs/v1alpha1"
	"koordinator.sh/koord/source"
	"koordinator.sh/koord/source/objects"
)

var _ source.QuotaLister = (*Source)(nil)

// Quotas lists the ElasticQuotas of all namespaces, with what koord-scheduler published about them.
func (s *Source) Quotas(ctx context.Context) ([]source.Quota, error) {
	c, err := s.connect()
	if err != nil {
		return nil, err
	}
	found, err := c.elasticQuotas(ctx, selection{})
	if err != nil {
		return nil, err
	}
	return objects.Quotas(found), nil
}

// elasticQuotas lists ElasticQuotas; where they are not installed, that is an error.
func (c *clients) elasticQuotas(ctx context.Context, by selection) ([]schedulingsigsv1alpha1.ElasticQuota, error) {
	client, err := c.of(source.KindQuota)
	if err != nil {
		return nil, err
	}
	return list(ctx, client, requestFor("list", source.KindQuota, by.namespace), by, splitJSON, decodeQuota)
}

func decodeQuota(raw []byte, into *schedulingsigsv1alpha1.ElasticQuota) error {
	return unmarshalJSON(raw, managedFieldsDrop, into)
}
