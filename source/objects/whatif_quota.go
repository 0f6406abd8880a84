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
	in.Findings = append(in.Findings, quotaFindings(&verdict, in.To.Namespace, in.To.Name)...)
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
	out.Total = TotalOf(in.Nodes)
	return out
}

// TotalOf is what nodes have together.
func TotalOf(nodes []corev1.Node) corev1.ResourceList {
	var total quota.Amounts
	for i := range nodes {
		total = total.Plus(quota.AmountsOf(nodes[i].Status.Allocatable))
	}
	out := corev1.ResourceList{}
	for _, part := range total {
		out[part.Resource] = quota.Quantity(part.Resource, part.Value)
	}
	return out
}
