package invariants

import (
	"math"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"koordinator.sh/koord/api/extension"
	schedulingsigsv1alpha1 "koordinator.sh/koord/api/schedulingsigs/v1alpha1"
)

// StatusesAgree compares what was written of each quota, of the resources that it limits or guarantees, with what follows from
// the quotas, the nodes and the pods: parents and those that always exist as well.
func (t *Tree) StatusesAgree() []Violation {
	var all []Violation
	sums := t.sums()
	runtimes := t.runtimes(sums)
	for _, quota := range t.Quotas {
		out := &found{invariant: CachesAgree, subject: "quota " + quota.Name}
		resources := t.resources()
		if quota.Name != extension.RootQuotaName {
			resources = limitedBy(quota)
		}
		for figure, want := range t.figures(quota.Name, sums, runtimes) {
			said, err := saidOf(quota, figure)
			if err != nil {
				out.add("%v", err)
				continue
			}
			for name := range resources {
				if !same(figure, said[name], want[name]) {
					out.add("its status says that %.0f of %s is %s, from its pods follows %.0f",
						said[name], name, strings.TrimPrefix(figure, extension.QuotaDomainPrefix), want[name])
				}
			}
		}
		all = append(all, out.sorted()...)
	}
	return all
}

// usedFigure is the figure that is no annotation.
const usedFigure = "used"

// figures is what is to be written of a quota, by annotation.
func (t *Tree) figures(quota string, all map[string]*sums, runtimes map[string]Limits) map[string]Limits {
	s := all[quota]
	want := map[string]Limits{
		usedFigure: s.used, extension.AnnotationQuotaRequest: s.request, extension.AnnotationQuotaChildRequest: s.childRequest,
		extension.AnnotationQuotaNonPreemptibleRequest: s.fixedRequest, extension.AnnotationQuotaNonPreemptibleUsed: s.fixedUsed,
	}
	switch quota {
	case extension.RootQuotaName:
		used := Limits{}
		for _, name := range []string{quota, extension.DefaultQuotaName, extension.SystemQuotaName} {
			used.plus(all[name].used)
		}
		want[usedFigure], want[extension.AnnotationQuotaRuntime] = used, runtimes[quota]
		want[extension.AnnotationQuotaTotalResource] = t.totals()[""]
		return want
	case extension.DefaultQuotaName, extension.SystemQuotaName: // their runtime is max, whatever is used
	default:
		want[extension.AnnotationQuotaRuntime] = runtimes[quota]
	}
	if t.guaranteesUsage() {
		want[extension.AnnotationQuotaGuaranteed], want[extension.AnnotationQuotaAllocated] = s.guaranteed, s.allocated
	}
	return want
}

func limitedBy(quota *schedulingsigsv1alpha1.ElasticQuota) map[corev1.ResourceName]bool {
	limited := map[corev1.ResourceName]bool{}
	for _, list := range []corev1.ResourceList{quota.Spec.Max, quota.Spec.Min} {
		for name := range list {
			limited[name] = true
		}
	}
	return limited
}

func saidOf(quota *schedulingsigsv1alpha1.ElasticQuota, figure string) (Limits, error) {
	if figure == usedFigure {
		return limitsOf(quota.Status.Used), nil
	}
	list, err := extension.GetQuotaResources(quota.Annotations, figure)
	return limitsOf(list), err
}

// same tolerates what a float loses, and of runtimes what is shared in fractions here and in whole units by a scheduler.
func same(figure string, said, want float64) bool {
	tolerated := 1e-9*math.Abs(want) + 1e-3
	if figure == extension.AnnotationQuotaRuntime {
		tolerated += 2
	}
	return math.Abs(said-want) <= tolerated
}
