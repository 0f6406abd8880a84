package objects

import (
	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/decision/admission/quotaadmission"
)

// LintQuotas answers for each quota of manifests what koord-manager would, if all were applied one after the other.
func LintQuotas(in quotaadmission.LintInput) []diagnosticsv1alpha1.QuotaLint {
	out := make([]diagnosticsv1alpha1.QuotaLint, len(in.Objects))
	for i, verdict := range quotaadmission.Lint(in) {
		object := &in.Objects[i]
		out[i].Namespace, out[i].Name, out[i].Refused = object.Namespace, object.Name, verdict.Refused()
		out[i].Findings = quotaFindings(&verdict, object.Namespace, object.Name)
	}
	return out
}

// quotaFindings are those of koord-manager about a quota.
func quotaFindings(verdict *quotaadmission.Verdict, namespace, name string) []diagnosticsv1alpha1.Finding {
	var out []diagnosticsv1alpha1.Finding
	for _, found := range verdict.Findings {
		severity := diagnosticsv1alpha1.SeverityWarning
		if found.Refused {
			severity = diagnosticsv1alpha1.SeverityError
		}
		out = append(out, diagnosticsv1alpha1.Finding{
			Code: string(found.Code), Severity: severity, Message: found.Field + ": " + found.Message,
			Object: &diagnosticsv1alpha1.SourceRef{Kind: "ElasticQuota", Namespace: namespace, Name: name},
		})
	}
	return out
}
