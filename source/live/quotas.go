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
	client, err := c.of(source.KindQuota)
	if err != nil {
		return nil, err
	}
	found, err := list(ctx, client, requestFor("list", source.KindQuota, ""), selection{}, splitJSON, decodeQuota)
	if err != nil {
		return nil, err
	}
	return objects.Quotas(found), nil
}

func decodeQuota(raw []byte, into *schedulingsigsv1alpha1.ElasticQuota) error {
	return unmarshalJSON(raw, managedFieldsDrop, into)
}
