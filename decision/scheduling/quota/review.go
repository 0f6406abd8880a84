package quota

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/api/finding"
	schedulingsigsv1alpha1 "koordinator.sh/koord/api/schedulingsigs/v1alpha1"
	"koordinator.sh/koord/decision/core/podrequest"
)

// Review finds quotas whose numbers mislead: those that use more than max, and those whose pods request resources that no max above
// them limits although it limits the same resource of another tier. Both are ordered by the names of the quotas.
func Review(quotas []schedulingsigsv1alpha1.ElasticQuota, pods iter.Seq[*corev1.Pod]) []diagnosticsv1alpha1.Finding {
	r := review{specs: map[string]*Spec{}, uncounted: map[string]*uncounted{}}
	all := make([]*Spec, 0, len(quotas))
	for i := range quotas {
		spec, _ := Decode(&quotas[i])
		all = append(all, &spec)
		if known := r.specs[spec.Name]; known == nil || compareAge(&spec, known) < 0 {
			r.specs[spec.Name] = &spec
		}
	}
	belonging := BelongingTo(all)
	for pod := range pods {
		if podrequest.Consumes(pod) {
			r.add(belonging.Of(pod, func(name string) bool { return r.specs[name] != nil }), pod)
		}
	}
	var out []diagnosticsv1alpha1.Finding
	ordered := slices.Clone(quotas)
	slices.SortFunc(ordered, func(a, b schedulingsigsv1alpha1.ElasticQuota) int { return strings.Compare(a.Name, b.Name) })
	for i := range ordered {
		if spec := r.specs[ordered[i].Name]; spec.Namespace == ordered[i].Namespace && !extension.IsBuiltInQuota(spec.Name) {
			out = append(out, r.above(spec, AmountsOf(ordered[i].Status.Used))...)
			out = append(out, r.beside(spec)...)
		}
	}
	return out
}

// Pods are those of a list, for Review.
func Pods(list []corev1.Pod) iter.Seq[*corev1.Pod] {
	return func(yield func(*corev1.Pod) bool) {
		for i := range list {
			if !yield(&list[i]) {
				return
			}
		}
	}
}

// review is one call of Review.
type review struct {
	specs     map[string]*Spec
	uncounted map[string]*uncounted
}

// uncounted is what pods of a quota request beside what it limits.
type uncounted struct {
	requests Amounts
	pods     int
}

// above says of what a quota uses more than its max: it may be lowered below what is used, and no pod is evicted for that.
func (r *review) above(spec *Spec, used Amounts) []diagnosticsv1alpha1.Finding {
	over := Overused(used, spec.Max)
	if len(over) == 0 {
		return nil
	}
	parts := make([]string, 0, len(over))
	for _, amount := range over {
		limit, _ := spec.Max.Get(amount.Resource)
		parts = append(parts, fmt.Sprintf("%s of %s, max is %s", text(amount.Resource, limit+amount.Value), amount.Resource, text(amount.Resource, limit)))
	}
	return []diagnosticsv1alpha1.Finding{{
		Code: string(finding.QuotaAboveMax), Severity: diagnosticsv1alpha1.SeverityWarning, Object: elasticQuota(spec, "status.used"),
		Message: fmt.Sprintf("quota %q uses %s", spec.Name, strings.Join(parts, ", ")),
		Hint:    "kubectl get elasticquota -n " + spec.Namespace + " " + spec.Name + " -o yaml",
	}}
}

// beside says what pods of a quota request that it does not limit.
func (r *review) beside(spec *Spec) []diagnosticsv1alpha1.Finding {
	left := r.uncounted[spec.Name]
	if left == nil {
		return nil
	}
	parts := make([]string, 0, len(left.requests))
	for _, amount := range left.requests {
		parts = append(parts, fmt.Sprintf("%s (%s)", amount.Resource, text(amount.Resource, amount.Value)))
	}
	return []diagnosticsv1alpha1.Finding{{
		Code: string(finding.QuotaUncounted), Severity: diagnosticsv1alpha1.SeverityInfo, Object: elasticQuota(spec, "spec.max"),
		Message: fmt.Sprintf("quota %q does not count %s, requested by %s: its max names %s", spec.Name, strings.Join(parts, ", "), podCount(left.pods), names(r.limits(spec))),
		Hint:    "kubectl edit elasticquota -n " + spec.Namespace + " " + spec.Name,
	}}
}

// add counts what a pod requests that nothing limits.
func (r *review) add(quota string, pod *corev1.Pod) {
	spec := r.specs[quota]
	if spec == nil {
		return
	}
	limits, requests := r.limits(spec), podrequest.Of(pod).Requests
	var beside Amounts
	for _, tiers := range tieredResources {
		limited := slices.ContainsFunc(tiers[:], func(name corev1.ResourceName) bool { return limits[name] })
		for i, name := range tiers {
			amount := requests.Of(reviewedTiers[i])
			value := amount.MilliCPU
			if tiers[0] == corev1.ResourceMemory {
				value = amount.Memory
			}
			if limited && !limits[name] && value > 0 {
				beside = beside.With(name, value)
			}
		}
	}
	if len(beside) == 0 {
		return
	}
	if r.uncounted[quota] == nil {
		r.uncounted[quota] = &uncounted{}
	}
	left := r.uncounted[quota]
	left.requests, left.pods = left.requests.Plus(beside), left.pods+1
}

// reviewedTiers are those of each row of tieredResources.
var (
	reviewedTiers   = [...]podrequest.Tier{podrequest.Plain, podrequest.Mid, podrequest.Batch}
	tieredResources = [...][len(reviewedTiers)]corev1.ResourceName{
		{corev1.ResourceCPU, extension.MidCPU, extension.BatchCPU}, {corev1.ResourceMemory, extension.MidMemory, extension.BatchMemory},
	}
)

// limits are the resources in the max of a quota or of one above it.
func (r *review) limits(spec *Spec) map[corev1.ResourceName]bool {
	out := map[corev1.ResourceName]bool{}
	for range r.specs { // no longer than a chain of all of them, also when they form a cycle
		for _, limit := range spec.Max {
			out[limit.Resource] = true
		}
		if spec = r.specs[spec.Parent]; spec == nil {
			break
		}
	}
	return out
}

func names(limits map[corev1.ResourceName]bool) string {
	out := make([]string, 0, len(limits))
	for name := range limits {
		out = append(out, string(name))
	}
	slices.Sort(out)
	return strings.Join(out, ", ")
}

func podCount(pods int) string {
	if pods == 1 {
		return "1 pod"
	}
	return fmt.Sprintf("%d pods", pods)
}

// text is an amount with CPU of any tier in cores.
func text(name corev1.ResourceName, value int64) string {
	if name == extension.MidCPU || name == extension.BatchCPU {
		name = corev1.ResourceCPU // both count in thousandths
	}
	quantity := Quantity(name, value)
	if name == corev1.ResourceCPU {
		return quantity.String() + " cores"
	}
	return quantity.String()
}

func elasticQuota(spec *Spec, field string) *diagnosticsv1alpha1.SourceRef {
	return &diagnosticsv1alpha1.SourceRef{Kind: "ElasticQuota", Namespace: spec.Namespace, Name: spec.Name, Field: field}
}
