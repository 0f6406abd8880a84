package objects

import (
	"cmp"
	"slices"

	"koordinator.sh/koord/api/extension"
	schedulingsigsv1alpha1 "koordinator.sh/koord/api/schedulingsigs/v1alpha1"
	"koordinator.sh/koord/decision/scheduling/quota"
	"koordinator.sh/koord/source"
)

// Quotas reads ElasticQuotas, each parent before its children, children by name. A quota whose parent does not exist, or that is its own
// ancestor, stands below the root.
func Quotas(objects []schedulingsigsv1alpha1.ElasticQuota) []source.Quota {
	below := map[string][]*source.Quota{}
	names := map[string]bool{}
	all := make([]source.Quota, len(objects))
	for i := range objects {
		all[i] = quotaOf(&objects[i])
		names[all[i].Name] = true
	}
	slices.SortFunc(all, func(a, b source.Quota) int {
		return cmp.Or(cmp.Compare(a.TreeID, b.TreeID), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Namespace, b.Namespace))
	})
	for i := range all {
		parent := all[i].Parent
		if !names[parent] {
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

func quotaOf(object *schedulingsigsv1alpha1.ElasticQuota) source.Quota {
	spec, problems := quota.Decode(object)
	q := source.Quota{Spec: spec, Used: quota.AmountsOf(object.Status.Used)}
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
