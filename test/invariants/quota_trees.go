package invariants

import (
	"math"

	"koordinator.sh/koord/api/extension"
	schedulingsigsv1alpha1 "koordinator.sh/koord/api/schedulingsigs/v1alpha1"
)

// totals are what there is to share in each tree, by its ID: what the tops of the tree bring. The default tree, whose ID is
// empty, has what all nodes can allocate, less what is taken off it for other trees.
func (t *Tree) totals() map[string]Limits {
	totals := map[string]Limits{"": limitsOf(t.Total)}
	for _, quota := range t.Quotas {
		id := t.treeOf(quota)
		if id == "" || extension.IsBuiltInQuota(quota.Name) {
			continue
		}
		if totals[id] == nil {
			totals[id] = Limits{}
		}
		brings, err := extension.GetQuotaResources(quota.Annotations, extension.AnnotationQuotaTotalResource)
		if err != nil || !extension.IsQuotaTreeRoot(quota) {
			continue
		}
		totals[id].add(brings)
		if quota.Labels[extension.LabelQuotaIgnoreDefaultTree] == "true" {
			continue
		}
		for name, value := range limitsOf(brings) {
			totals[""][name] = math.Max(0, totals[""][name]-value)
		}
	}
	return totals
}

// treeOf is the ID of the tree of a quota: the one that it names, or else that of its parent.
func (t *Tree) treeOf(quota *schedulingsigsv1alpha1.ElasticQuota) string {
	for range t.Quotas {
		if id := quota.Labels[extension.LabelQuotaTreeID]; id != "" {
			return id
		}
		above := t.quota(extension.QuotaParent(quota))
		if above == nil || extension.IsBuiltInQuota(above.Name) {
			return ""
		}
		quota = above
	}
	return ""
}

// tops are the quotas of a tree that have no parent in it.
func (t *Tree) tops(id string) []*schedulingsigsv1alpha1.ElasticQuota {
	return t.those(func(quota *schedulingsigsv1alpha1.ElasticQuota) bool {
		return t.treeOf(quota) == id && t.parent(quota) == nil
	})
}

func (t *Tree) children(parent *schedulingsigsv1alpha1.ElasticQuota) []*schedulingsigsv1alpha1.ElasticQuota {
	return t.those(func(quota *schedulingsigsv1alpha1.ElasticQuota) bool { return t.parent(quota) == parent })
}

// parent of a quota in its tree; nil for one that stands at the top of it.
func (t *Tree) parent(quota *schedulingsigsv1alpha1.ElasticQuota) *schedulingsigsv1alpha1.ElasticQuota {
	above := t.quota(extension.QuotaParent(quota))
	if above == nil || extension.IsBuiltInQuota(above.Name) || t.treeOf(above) != t.treeOf(quota) {
		return nil
	}
	return above
}

// those are the quotas that take part in sharing and that a condition holds for.
func (t *Tree) those(holds func(*schedulingsigsv1alpha1.ElasticQuota) bool) []*schedulingsigsv1alpha1.ElasticQuota {
	var selected []*schedulingsigsv1alpha1.ElasticQuota
	for _, quota := range t.Quotas {
		if !extension.IsBuiltInQuota(quota.Name) && holds(quota) {
			selected = append(selected, quota)
		}
	}
	return selected
}
