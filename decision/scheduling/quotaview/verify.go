package quotaview

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/api/finding"
	"koordinator.sh/koord/decision/core/amount"
	"koordinator.sh/koord/decision/core/phrase"
	"koordinator.sh/koord/decision/scheduling/quota"
)

// Verify compares what koord-scheduler published of quotas with what follows from the pods and nodes of an input, whose Quota is not used. It
// arranges and divides as koord-scheduler does. A quota that does not count, because an older one has its name, is left out.
func Verify(in Input, published []Quota) *diagnosticsv1alpha1.QuotaVerification {
	out := &diagnosticsv1alpha1.QuotaVerification{}
	if in.Unseen {
		out.Verdict, out.Message = diagnosticsv1alpha1.QuotaUnverified, "what follows from the pods and nodes is unknown"
		return out
	}
	computed := newDivided(&in)
	differing := 0
	for i := range published {
		q := &published[i]
		status, counts := computed.status(q)
		if !counts {
			continue
		}
		out.Quotas++
		if differences := differencesOf(q, &status); len(differences) > 0 {
			differing++
			out.Differences = append(out.Differences, differences...)
			out.Findings = append(out.Findings, differs(q, differences))
		}
	}
	out.Verdict, out.Message = diagnosticsv1alpha1.QuotaAgrees, "what is published of "+phrase.Counted(int(out.Quotas), "quota")+" follows from the pods and nodes"
	if differing > 0 {
		out.Verdict = diagnosticsv1alpha1.QuotaDiffers
		out.Message = fmt.Sprintf("what is published of %d of %s does not follow from the pods and nodes as they are now", differing, phrase.Counted(int(out.Quotas), "quota"))
	}
	return out
}

// status is what follows for a quota; false for one that does not count.
func (d *divided) status(q *Quota) (quota.Status, bool) {
	if q.Name == extension.RootQuotaName {
		return d.forest.ByID("").Root(), true
	}
	tree := d.forest.Tree(q.Name)
	if tree == nil {
		return quota.Status{}, false
	}
	if spec := tree.Spec(q.Name); spec.Namespace != q.Namespace && !extension.IsBuiltInQuota(q.Name) {
		return quota.Status{}, false
	}
	return tree.Status(q.Name)
}

func differencesOf(q *Quota, status *quota.Status) []diagnosticsv1alpha1.QuotaDifference {
	var out []diagnosticsv1alpha1.QuotaDifference
	for _, figure := range []struct {
		name                diagnosticsv1alpha1.QuotaFigure
		published, computed quota.Amounts
	}{
		{diagnosticsv1alpha1.QuotaFigureUsed, q.Used, status.Used},
		{diagnosticsv1alpha1.QuotaFigureRequest, q.Request, status.Request},
		{diagnosticsv1alpha1.QuotaFigureRuntime, q.Runtime, status.Runtime},
	} {
		for _, resource := range resourcesOf(figure.published, figure.computed) {
			published, is := figure.published.Get(resource)
			computed, follows := figure.computed.Get(resource)
			if published == computed { // what is absent is 0
				continue
			}
			out = append(out, diagnosticsv1alpha1.QuotaDifference{
				Namespace: q.Namespace, Quota: q.Name, Figure: figure.name, Resource: string(resource), Unit: amount.UnitOf(resource),
				Published: known(published, is), Computed: known(computed, follows),
			})
		}
	}
	slices.SortStableFunc(out, func(a, b diagnosticsv1alpha1.QuotaDifference) int {
		return cmp.Or(strings.Compare(string(a.Figure), string(b.Figure)), strings.Compare(a.Resource, b.Resource))
	})
	return out
}

func known(value int64, is bool) *int64 {
	if !is {
		return nil
	}
	return &value
}

// resourcesOf are the resources of two amounts, each once.
func resourcesOf(a, b quota.Amounts) []corev1.ResourceName {
	var names []corev1.ResourceName
	for _, part := range slices.Concat(a, b) {
		if !slices.Contains(names, part.Resource) {
			names = append(names, part.Resource)
		}
	}
	return names
}

// differs is the finding about a quota, with its first difference.
func differs(q *Quota, differences []diagnosticsv1alpha1.QuotaDifference) diagnosticsv1alpha1.Finding {
	first := &differences[0]
	resource := corev1.ResourceName(first.Resource)
	amountOf := func(v *int64) string {
		if v == nil {
			return "<none>"
		}
		return format(resource, *v)
	}
	message := fmt.Sprintf("quota %s: %s of %s is published as %s, and %s follows from the pods and nodes", q.Name, first.Figure, amount.ShortName(resource),
		amountOf(first.Published), amountOf(first.Computed))
	if more := len(differences) - 1; more > 0 {
		message += "; " + phrase.Counted(more, "more figure")
	}
	return diagnosticsv1alpha1.Finding{
		Code: string(finding.QuotaFiguresDiffer), Severity: diagnosticsv1alpha1.Severity(finding.QuotaFiguresDiffer.Severity()), Message: message,
		Object: &diagnosticsv1alpha1.SourceRef{Kind: "ElasticQuota", Namespace: q.Namespace, Name: q.Name},
	}
}
