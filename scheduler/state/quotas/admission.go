package quotas

import (
	"k8s.io/apimachinery/pkg/types"

	schedulingsigsv1alpha1 "koordinator.sh/koord/api/schedulingsigs/v1alpha1"
	"koordinator.sh/koord/decision/admission/quotaadmission"
)

// Admitted is what admission says of an ElasticQuota in the place of the one with its name, with the options that koord-manager
// has by default.
func (v *View) Admitted(object *schedulingsigsv1alpha1.ElasticQuota) quotaadmission.Verdict {
	v.mutex.Lock()
	defer v.mutex.Unlock()
	quota, undecoded := quotaadmission.Read(object)
	v.book.recompute()
	in := quotaadmission.Input{Quota: &quota, Undecoded: undecoded, Quotas: v.book.admission(), Total: v.book.total.List()}
	if before := v.book.entries[types.NamespacedName{Namespace: object.Namespace, Name: object.Name}].object; before != nil {
		old, _ := quotaadmission.Read(before)
		in.Old = &old
	}
	return quotaadmission.Validate(in)
}

// admission is made from the entries when they have changed.
func (b *book) admission() *quotaadmission.Index {
	if b.index == nil {
		b.index = quotaadmission.NewIndex()
		for _, entry := range b.entries {
			quota, _ := quotaadmission.Read(entry.object)
			b.index.Set(&quota)
		}
	}
	return b.index
}
