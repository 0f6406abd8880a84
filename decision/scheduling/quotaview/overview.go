package quotaview

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/decision/core/amount"
)

// Overview of a quota from what is published about it.
func Overview(q *Quota) diagnosticsv1alpha1.QuotaOverview {
	return diagnosticsv1alpha1.QuotaOverview{ObjectMeta: metaOf(q), QuotaFacts: factsOf(q)}
}

func metaOf(q *Quota) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: q.Namespace, Name: q.Name, Labels: q.Labels}
}

func factsOf(q *Quota) diagnosticsv1alpha1.QuotaFacts {
	out := diagnosticsv1alpha1.QuotaFacts{
		Parent: q.Parent, Tree: q.TreeID, Depth: int32(q.Depth), Misplaced: q.Misplaced, IsParent: q.IsParent, Lends: q.Lends,
		Namespaces: q.Namespaces, Problems: q.Problems,
	}
	out.State, out.Reason = StateOf(q)
	for _, name := range Resources(q) {
		a := AmountsOf(q, name)
		out.Resources = append(out.Resources, diagnosticsv1alpha1.QuotaResource{
			Resource: string(name), Unit: amount.UnitOf(name), Min: a.Min, Max: a.Max, Runtime: a.Runtime, Used: a.Used, Request: a.Request,
		})
	}
	return out
}

// AmountsIn are the amounts of one resource of an overview; all nil for a resource that it lacks.
func AmountsIn(facts *diagnosticsv1alpha1.QuotaFacts, resource corev1.ResourceName) Amounts {
	for i := range facts.Resources {
		if r := &facts.Resources[i]; r.Resource == string(resource) {
			return Amounts{Resource: resource, Min: r.Min, Max: r.Max, Runtime: r.Runtime, Used: r.Used, Request: r.Request}
		}
	}
	return Amounts{Resource: resource}
}
