package quotaadmission

import (
	"maps"

	corev1 "k8s.io/api/core/v1"

	"koordinator.sh/koord/api/finding"
	schedulingsigsv1alpha1 "koordinator.sh/koord/api/schedulingsigs/v1alpha1"
)

// LintInput is what decides about quotas of manifests.
type LintInput struct {
	// Objects in the order in which they are applied.
	Objects []schedulingsigsv1alpha1.ElasticQuota
	// Existing quotas of a cluster.
	Existing []schedulingsigsv1alpha1.ElasticQuota
	// Total is what all nodes have; where it is empty, no min is compared with it.
	Total corev1.ResourceList
	// Whole is true where Existing are all quotas of the cluster. Where it is not, a parent that is nowhere may still exist.
	Whole bool
}

// Lint answers for each object what the webhook would if all were applied one after the other. A quota that is refused counts for those after
// it, so that one mistake is reported once. What depends on pods and on the rights of who applies them is not judged.
func Lint(in LintInput) []Verdict {
	index, known := NewIndex(), map[[2]string]*schedulingsigsv1alpha1.ElasticQuota{}
	for i := range in.Existing {
		object := &in.Existing[i]
		read, _ := Read(object)
		index.Set(&read)
		known[[2]string{object.Namespace, object.Name}] = object
	}
	verdicts := make([]Verdict, len(in.Objects))
	for i := range in.Objects {
		key := [2]string{in.Objects[i].Namespace, in.Objects[i].Name}
		object := defaulted(&in.Objects[i], known[key], index)
		quota, undecoded := Read(object)
		request := Input{Quota: &quota, Undecoded: undecoded, Quotas: index, Total: in.Total}
		if known[key] != nil {
			old, _ := Read(known[key])
			request.Old = &old
		}
		verdicts[i] = Validate(request)
		if !in.Whole {
			verdicts[i].overlookParent()
		}
		index.Set(&quota)
		known[key] = object
	}
	return verdicts
}

// defaulted is an object as the webhook completes it, with the status that it has in the cluster.
func defaulted(object, old *schedulingsigsv1alpha1.ElasticQuota, index *Index) *schedulingsigsv1alpha1.ElasticQuota {
	object = object.DeepCopy()
	object.Status = schedulingsigsv1alpha1.ElasticQuotaStatus{}
	if old != nil {
		object.Status, object.CreationTimestamp = old.Status, old.CreationTimestamp
	}
	labels, annotations, err := Default(object, old, index)
	if err != nil {
		return object // an annotation that cannot be decoded is a finding
	}
	if object.Labels == nil {
		object.Labels = map[string]string{}
	}
	if object.Annotations == nil {
		object.Annotations = map[string]string{}
	}
	maps.Copy(object.Labels, labels)
	maps.Copy(object.Annotations, annotations)
	return object
}

// overlookParent lets a quota pass whose parent is not known.
func (v *Verdict) overlookParent() {
	for i := range v.Findings {
		if f := &v.Findings[i]; f.Code == finding.QuotaParentMissing && f.Refused {
			f.Refused, f.Message = false, f.Message+" in the manifests"
		}
	}
}
