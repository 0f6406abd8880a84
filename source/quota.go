package source

import (
	"context"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	schedulingsigsv1alpha1 "koordinator.sh/koord/api/schedulingsigs/v1alpha1"
	"koordinator.sh/koord/decision/scheduling/quotaview"
)

// QuotaLister is a source that lists ElasticQuotas. Implementations are safe for concurrent use.
type QuotaLister interface {
	// Quotas returns all ElasticQuotas, each parent before its children.
	Quotas(ctx context.Context) ([]Quota, error)
}

// QuotaViewer is a source of overviews of ElasticQuotas and of their trees. Implementations are safe for concurrent use.
type QuotaViewer interface {
	// QuotaOverviews returns ElasticQuotas with what koord-scheduler published about them, ordered by namespace and name.
	QuotaOverviews(ctx context.Context, query QuotaQuery) (*diagnosticsv1alpha1.QuotaOverviewList, error)
	// QuotaTree returns all ElasticQuotas, each parent before its children; with a name, that quota and those below it. Where only those of
	// the namespace may be listed, these are returned, and the answer says so. A name that does not exist is an error with code KOORD0003.
	QuotaTree(ctx context.Context, namespace, name string) (*diagnosticsv1alpha1.QuotaOverviewList, error)
}

// QuotaExplainer is a source that explains ElasticQuotas. Implementations are safe for concurrent use.
type QuotaExplainer interface {
	// ExplainQuota says where the runtime of a quota comes from, who uses it and which pods do not fit, naming up to limit pods of each. Only
	// the quotas are indispensable: what else cannot be seen, the answer names. A name that does not exist is an error with code KOORD0003.
	ExplainQuota(ctx context.Context, namespace, name string, limit int) (*diagnosticsv1alpha1.QuotaExplanation, error)
}

// QuotaForecaster is a source that says what a change of an ElasticQuota does. Implementations are safe for concurrent use.
type QuotaForecaster interface {
	// ForecastQuota says whether a change is allowed, which runtimes change and which waiting pods fit then, naming up to limit pods of
	// each. Only the quotas are indispensable. A name that does not exist is an error with code KOORD0003.
	ForecastQuota(ctx context.Context, namespace, name string, edits quotaview.Edits, limit int) (*diagnosticsv1alpha1.QuotaForecast, error)
}

// QuotaVerifier is a source that compares what is published of ElasticQuotas with what follows from the pods and nodes. Implementations are
// safe for concurrent use.
type QuotaVerifier interface {
	// VerifyQuotas compares all quotas, or the one of a name where that is not empty. Only the quotas are indispensable: without all quotas,
	// pods and nodes the verdict is Unknown. A name that does not exist is an error with code KOORD0003.
	VerifyQuotas(ctx context.Context, namespace, name string) (*diagnosticsv1alpha1.QuotaVerification, error)
}

// QuotaLinter is a source that says whether koord-manager would admit ElasticQuotas. Implementations are safe for concurrent use.
type QuotaLinter interface {
	// LintQuotas answers for each quota what koord-manager would, if all were applied one after the other on what the cluster has. The
	// quotas of all namespaces are indispensable.
	LintQuotas(ctx context.Context, quotas []schedulingsigsv1alpha1.ElasticQuota) (*diagnosticsv1alpha1.QuotaLintList, error)
}

// QuotaQuery selects ElasticQuotas; the zero value selects those of all namespaces.
type QuotaQuery struct {
	// Namespace to select; empty for all.
	Namespace string
	// Names to select; empty for all. A name that does not exist is an error with code KOORD0003.
	Names []string
	// LabelSelector in the syntax of kubectl -l; empty for all.
	LabelSelector string
}

// Quota is an ElasticQuota with what koord-scheduler published about it.
type Quota = quotaview.Quota
