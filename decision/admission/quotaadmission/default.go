package quotaadmission

import (
	"maps"

	corev1 "k8s.io/api/core/v1"

	"koordinator.sh/koord/api/extension"
	schedulingsigsv1alpha1 "koordinator.sh/koord/api/schedulingsigs/v1alpha1"
)

// Default returns the labels and annotations that a quota gets beyond its own when it is created or changed: the root as its
// parent, the tree of its parent, and weights for exactly the resources that it limits. A weight that was max follows max.
// old is nil for a quota that is created. Nothing is given to the quotas that always exist.
func Default(quota, old *schedulingsigsv1alpha1.ElasticQuota, quotas *Index) (labels, annotations map[string]string, err error) {
	labels, annotations = map[string]string{}, map[string]string{}
	if extension.IsBuiltInQuota(quota.Name) {
		return labels, annotations, nil
	}
	if quota.Labels[extension.LabelQuotaParent] == "" {
		labels[extension.LabelQuotaParent] = extension.RootQuotaName
	}
	if parent := quotas.Get(extension.QuotaParent(quota)); quota.Labels[extension.LabelQuotaTreeID] == "" && parent != nil && parent.TreeID != "" {
		labels[extension.LabelQuotaTreeID] = parent.TreeID
	}
	weight, given := weightOf(quota, old)
	if given {
		holder := &schedulingsigsv1alpha1.ElasticQuota{}
		if err := extension.SetQuotaResources(holder, extension.AnnotationQuotaSharedWeight, weight); err != nil {
			return nil, nil, err
		}
		maps.Copy(annotations, holder.Annotations)
	}
	return labels, annotations, nil
}

// weightOf returns the weights to write, and whether there are any. An annotation that cannot be decoded stays as it is.
func weightOf(quota, old *schedulingsigsv1alpha1.ElasticQuota) (corev1.ResourceList, bool) {
	weight, err := extension.GetQuotaResources(quota.Annotations, extension.AnnotationQuotaSharedWeight)
	if err != nil || len(quota.Spec.Max) == 0 {
		return nil, false
	}
	if followed(quota, old, weight) {
		weight = nil
	}
	completed := make(corev1.ResourceList, len(quota.Spec.Max))
	for name, limit := range quota.Spec.Max {
		completed[name] = limit
		if quantity, found := weight[name]; found {
			completed[name] = quantity
		}
	}
	return completed, !sameList(completed, weight)
}

// followed is true when the weight equalled max and stays unchanged while max changes.
func followed(quota, old *schedulingsigsv1alpha1.ElasticQuota, weight corev1.ResourceList) bool {
	if old == nil || sameList(old.Spec.Max, quota.Spec.Max) {
		return false
	}
	before, err := extension.GetQuotaResources(old.Annotations, extension.AnnotationQuotaSharedWeight)
	return err == nil && sameList(before, old.Spec.Max) && sameList(before, weight)
}

// AwaitsParent reports whether Default may fill in more of a quota once its parent is known.
func AwaitsParent(quota *schedulingsigsv1alpha1.ElasticQuota, quotas *Index) bool {
	parent := extension.QuotaParent(quota)
	return quota.Labels[extension.LabelQuotaTreeID] == "" && parent != "" && parent != extension.RootQuotaName && quotas.Get(parent) == nil
}
