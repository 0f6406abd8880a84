package quotaadmission

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"koordinator.sh/koord/api/finding"
)

// guarantee: with usage guaranteed, a min that is raised beyond what the quota has must be covered by what its ancestors have
// and did not promise to others, each covering what those below it could not.
func (v *validation) guarantee() {
	if !v.Options.GuaranteeUsage || v.Quota.TreeID == "" || v.Quota.TreeRoot || len(v.verdict.Ancestors) == 0 {
		return
	}
	for _, name := range keys(v.Quota.Min) {
		wanted := v.Quota.Min[name].DeepCopy()
		if v.Old != nil && !grown(v.Quota.Min, v.Old.Min, name) {
			continue
		}
		wanted.Sub(v.Quota.Guaranteed[name])
		root := ""
		for _, ancestor := range v.verdict.Ancestors {
			if wanted.Sign() <= 0 {
				break
			}
			root = ancestor
			spare := spareOf(v.Quotas.Get(ancestor), name)
			v.verdict.Guarantees = append(v.verdict.Guarantees, Guarantee{Quota: ancestor, Resource: name, Wanted: wanted.DeepCopy(), Spare: spare})
			wanted.Sub(spare)
		}
		if wanted.Sign() > 0 {
			v.refuse(finding.QuotaGuaranteeLacking, fieldMin, "Invalid value: tree root quota %v can't guarantee for min: short of %s by %s", root, name, wanted.String())
		}
	}
}

func spareOf(quota *Quota, name corev1.ResourceName) resource.Quantity {
	spare := quota.Guaranteed[name].DeepCopy()
	spare.Sub(quota.Allocated[name])
	if spare.Sign() < 0 {
		return resource.Quantity{}
	}
	return spare
}
