package source

import (
	"context"

	"koordinator.sh/koord/decision/scheduling/quota"
)

// QuotaLister is a source that lists ElasticQuotas. Implementations are safe for concurrent use.
type QuotaLister interface {
	// Quotas returns all ElasticQuotas, each parent before its children.
	Quotas(ctx context.Context) ([]Quota, error)
}

// Quota is an ElasticQuota with what koord-scheduler published about it.
type Quota struct {
	quota.Spec
	// Depth in its tree: 0 for a quota below the root.
	Depth int
	// Used, Runtime and Request are what the quota uses, may use now and is asked for, its children included. A resource that is not
	// published is absent.
	Used, Runtime, Request quota.Amounts
	// Problems of the object; what cannot be read counts as the problem says.
	Problems []string
}
