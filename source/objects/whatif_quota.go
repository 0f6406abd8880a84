package objects

import (
	corev1 "k8s.io/api/core/v1"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/decision/admission/quotaadmission"
	"koordinator.sh/koord/decision/scheduling/quota"
	"koordinator.sh/koord/decision/scheduling/quotaview"
)

// ForecastQuota asks what koord-manager would say of the change, with the options that it has by default, and then what follows from it.
func ForecastQuota(in quotaview.Change) *diagnosticsv1alpha1.QuotaForecast {
	verdict := quotaadmission.Validate(quotaRequest(&in))
	in.Refused = verdict.Refused()
	for _, found := range verdict.Findings {
		severity := diagnosticsv1alpha1.SeverityWarning
		if found.Refused {
			severity = diagnosticsv1alpha1.SeverityError
		}
		in.Findings = append(in.Findings, diagnosticsv1alpha1.Finding{
			Code: string(found.Code), Severity: severity, Message: found.Field + ": " + found.Message,
			Object: &diagnosticsv1alpha1.SourceRef{Kind: "ElasticQuota", Namespace: in.To.Namespace, Name: in.To.Name},
		})
	}
	return quotaview.Forecast(in)
}

// quotaRequest is the change as koord-manager is asked about it.
func quotaRequest(in *quotaview.Change) quotaadmission.Input {
	out := quotaadmission.Input{Quotas: quotaadmission.NewIndex()}
	for i := range in.Objects {
		read, _ := quotaadmission.Read(&in.Objects[i])
		out.Quotas.Set(&read)
		if read.Namespace == in.To.Namespace && read.Name == in.To.Name {
			out.Old = &read
		}
	}
	to, undecoded := quotaadmission.Read(in.To)
	out.Quota, out.Undecoded = &to, undecoded
	if in.Unseen {
		return out
	}
	var total quota.Amounts
	for i := range in.Nodes {
		total = total.Plus(quota.AmountsOf(in.Nodes[i].Status.Allocatable))
	}
	out.Total = corev1.ResourceList{}
	for _, part := range total {
		out.Total[part.Resource] = quota.Quantity(part.Resource, part.Value)
	}
	return out
}
