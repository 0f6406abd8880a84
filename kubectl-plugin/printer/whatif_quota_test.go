package printer

import (
	"io"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
)

// whatifQuotaViews are what is printed of changes of quotas.
func whatifQuotaViews() map[string]view {
	return map[string]view{
		"whatif-quota":         func(w io.Writer, o Options) error { return QuotaForecast(w, quotaForecastFixture(), o) },
		"whatif-quota-refused": func(w io.Writer, o Options) error { return QuotaForecast(w, refusedQuotaFixture(), o) },
	}
}

func quotaForecastFixture() *diagnosticsv1alpha1.QuotaForecast {
	return &diagnosticsv1alpha1.QuotaForecast{
		Verdict: diagnosticsv1alpha1.QuotaForecastChanges, Message: "the runtime of 2 quotas changes; more fit into their quotas: 3 waiting pods",
		Edits: []diagnosticsv1alpha1.QuotaEdit{{Field: "spec.max[cpu]", Before: "60", After: "80"}, {Field: "spec.min[nvidia.com/gpu]", Before: "8"}},
		Quotas: []diagnosticsv1alpha1.QuotaChange{
			{Namespace: "teams", Quota: "batch", Resource: "cpu", Unit: diagnosticsv1alpha1.MilliCPU, RuntimeBefore: 40000, RuntimeAfter: 20000, Used: 30000},
			{Namespace: "teams", Quota: "web", Resource: "memory", Unit: diagnosticsv1alpha1.Bytes, RuntimeBefore: 60 << 30, RuntimeAfter: 80 << 30, Used: 50 << 30},
		},
		Admitted:        []diagnosticsv1alpha1.ChangedPod{{Namespace: "shop", Name: "web-2", Quota: "web", Message: "cpu: 50 used + 15 requested > 60 runtime"}},
		AdmittedOmitted: 2,
		Refused:         []diagnosticsv1alpha1.ChangedPod{{Namespace: "spark", Name: "job-2", Quota: "batch", Message: "cpu: 30 used + 9 requested > 20 runtime"}},
		Notes:           []string{"each waiting pod is held against its quota by itself, and needs a node besides"},
	}
}

func refusedQuotaFixture() *diagnosticsv1alpha1.QuotaForecast {
	return &diagnosticsv1alpha1.QuotaForecast{
		Verdict: diagnosticsv1alpha1.QuotaForecastRefused, Message: "koord-manager refuses the change of quota teams/web",
		Findings: []diagnosticsv1alpha1.Finding{{Code: "KOORD1210", Severity: diagnosticsv1alpha1.SeverityError, Message: "spec.min: min 70 of cpu exceeds max 60"}},
	}
}
