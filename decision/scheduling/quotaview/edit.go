package quotaview

import (
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/extension"
	schedulingsigsv1alpha1 "koordinator.sh/koord/api/schedulingsigs/v1alpha1"
)

// Edits of a quota, by resource; nil removes a resource.
type Edits struct {
	Min, Max, SharedWeight map[corev1.ResourceName]*resource.Quantity
}

// Apply returns a copy of a quota with edits, and those of them that change something, in the order of the fields and resources.
func (e Edits) Apply(object *schedulingsigsv1alpha1.ElasticQuota) (*schedulingsigsv1alpha1.ElasticQuota, []diagnosticsv1alpha1.QuotaEdit, error) {
	edited, made := object.DeepCopy(), []diagnosticsv1alpha1.QuotaEdit{}
	made = append(made, edit(&edited.Spec.Min, e.Min, "spec.min")...)
	made = append(made, edit(&edited.Spec.Max, e.Max, "spec.max")...)
	if len(e.SharedWeight) == 0 {
		return edited, made, nil
	}
	weights := extension.QuotaSharedWeight(object.Annotations, object.Spec.Max).DeepCopy() // what is not edited keeps its weight
	made = append(made, edit(&weights, e.SharedWeight, "annotations["+extension.AnnotationQuotaSharedWeight+"]")...)
	return edited, made, extension.SetQuotaResources(edited, extension.AnnotationQuotaSharedWeight, weights)
}

// edit changes a list, and returns what changed.
func edit(list *corev1.ResourceList, edits map[corev1.ResourceName]*resource.Quantity, field string) []diagnosticsv1alpha1.QuotaEdit {
	var made []diagnosticsv1alpha1.QuotaEdit
	for _, name := range slices.Sorted(maps.Keys(edits)) {
		was, there := (*list)[name]
		row := diagnosticsv1alpha1.QuotaEdit{Field: fmt.Sprintf("%s[%s]", field, name)}
		if there {
			row.Before = was.String()
		}
		if to := edits[name]; to == nil {
			delete(*list, name)
		} else {
			if *list == nil {
				*list = corev1.ResourceList{}
			}
			(*list)[name], row.After = *to, to.String()
			if there && was.Cmp(*to) == 0 {
				continue
			}
		}
		if row.Before != row.After {
			made = append(made, row)
		}
	}
	return made
}
