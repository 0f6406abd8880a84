package objects

import (
	"cmp"
	"slices"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/api/finding"
	schedulingsigsv1alpha1 "koordinator.sh/koord/api/schedulingsigs/v1alpha1"
	"koordinator.sh/koord/decision/scheduling/quota"
	"koordinator.sh/koord/decision/scheduling/quotaview"
	"koordinator.sh/koord/source"
)

// Quotas reads ElasticQuotas, each parent before its children, children by name. A quota whose parent does not exist, or that is its own
// ancestor, stands below the root and says so.
func Quotas(objects []schedulingsigsv1alpha1.ElasticQuota) []source.Quota {
	below := map[string][]*source.Quota{}
	all := make([]source.Quota, len(objects))
	for i := range objects {
		all[i] = quotaOf(&objects[i])
	}
	misplaced(all)
	slices.SortFunc(all, func(a, b source.Quota) int {
		return cmp.Or(cmp.Compare(a.TreeID, b.TreeID), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Namespace, b.Namespace))
	})
	for i := range all {
		parent := all[i].Parent
		if all[i].Misplaced != "" || extension.IsBuiltInQuota(all[i].Name) {
			parent = extension.RootQuotaName
		}
		below[parent] = append(below[parent], &all[i])
	}
	out := make([]source.Quota, 0, len(all))
	placed := map[*source.Quota]bool{}
	var place func(q *source.Quota, depth int)
	place = func(q *source.Quota, depth int) {
		if placed[q] {
			return
		}
		placed[q], q.Depth = true, depth
		out = append(out, *q)
		if q.Name == extension.RootQuotaName {
			return
		}
		for _, child := range below[q.Name] {
			place(child, depth+1)
		}
	}
	for _, q := range below[extension.RootQuotaName] {
		place(q, 0)
	}
	for i := range all {
		place(&all[i], 0)
	}
	return out
}

// misplaced says of quotas that koord-scheduler does not arrange below the parent that they name, why.
func misplaced(all []source.Quota) {
	specs, at := make([]*quota.Spec, len(all)), map[[2]string]*source.Quota{}
	for i := range all {
		specs[i], at[[2]string{all[i].Namespace, all[i].Name}] = &all[i].Spec, &all[i]
	}
	for _, problem := range quota.BuildForest(quota.Options{}, specs).Problems {
		switch problem.Code {
		case finding.QuotaParentMissing, finding.QuotaCycle, finding.QuotaNameTaken:
			if q := at[[2]string{problem.Namespace, problem.Quota}]; q.Misplaced == "" {
				q.Misplaced = problem.Message
			}
		}
	}
}

// QuotaOverviews are overviews of quotas, in their order.
func QuotaOverviews(quotas []source.Quota) []diagnosticsv1alpha1.QuotaOverview {
	out := make([]diagnosticsv1alpha1.QuotaOverview, len(quotas))
	for i := range quotas {
		out[i] = quotaview.Overview(&quotas[i])
	}
	return out
}

// SubtreeOf is a quota with those below it, from quotas in the order of Quotas; nil where there is none of that name. Its depth is 0.
func SubtreeOf(quotas []source.Quota, namespace, name string) []source.Quota {
	first := slices.IndexFunc(quotas, func(q source.Quota) bool { return q.Namespace == namespace && q.Name == name })
	if first < 0 {
		return nil
	}
	end := first + 1
	for end < len(quotas) && quotas[end].Depth > quotas[first].Depth {
		end++
	}
	out := slices.Clone(quotas[first:end])
	for i := range out {
		out[i].Depth -= quotas[first].Depth
	}
	return out
}

func quotaOf(object *schedulingsigsv1alpha1.ElasticQuota) source.Quota {
	spec, problems := quota.Decode(object)
	q := source.Quota{Spec: spec, Labels: object.Labels, Used: quota.AmountsOf(object.Status.Used)}
	for i := range problems {
		q.Problems = append(q.Problems, problems[i].Message)
	}
	for key, into := range map[string]*quota.Amounts{extension.AnnotationQuotaRuntime: &q.Runtime, extension.AnnotationQuotaRequest: &q.Request} {
		list, err := extension.GetQuotaResources(object.Annotations, key)
		if err != nil {
			q.Problems = append(q.Problems, err.Error())
			continue
		}
		*into = quota.AmountsOf(list)
	}
	slices.Sort(q.Problems)
	return q
}
