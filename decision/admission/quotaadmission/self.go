package quotaadmission

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"koordinator.sh/koord/api/finding"
)

// self checks the quota's own numbers, of those that the request changes.
func (v *validation) self() {
	old := v.Old
	if old == nil {
		old = &Quota{}
	}
	v.nonNegative(fieldMax, v.Quota.Max, old.Max)
	v.nonNegative(fieldMin, v.Quota.Min, old.Min)
	v.nonNegative(fieldWeight, v.Quota.Weight, old.Weight)
	v.minWithinMax(old)
	v.strictMax(old)
}

func (v *validation) nonNegative(field string, list, before corev1.ResourceList) {
	for _, name := range keys(list) {
		quantity := list[name]
		if was, found := before[name]; quantity.Sign() < 0 && (!found || was.Cmp(quantity) != 0) {
			v.refuse(finding.QuotaInvalid, field, "Invalid value: %s of %s must not be negative", quantity.String(), name)
		}
	}
}

// minWithinMax: what is guaranteed must be limited, and not to less.
func (v *validation) minWithinMax(old *Quota) {
	for _, name := range keys(v.Quota.Min) {
		least := v.Quota.Min[name]
		most, limited := v.Quota.Max[name]
		wasLeast, hadLeast := old.Min[name]
		wasMost, hadMost := old.Max[name]
		if hadLeast && hadMost == limited && wasLeast.Cmp(least) == 0 && wasMost.Cmp(most) == 0 {
			continue
		}
		switch {
		case !limited:
			v.refuse(finding.QuotaKeysMismatch, fieldMin, "Invalid value: min has %s, but max does not", name)
		case least.Cmp(most) > 0:
			v.refuse(finding.QuotaInvalid, fieldMin, "Invalid value: min %s of %s exceeds max %s", least.String(), name, most.String())
		}
	}
}

// strictMax: of some resources, max must cover what is used.
func (v *validation) strictMax(old *Quota) {
	if slices.Equal(v.Quota.StrictKeys, old.StrictKeys) && sameList(v.Quota.Max, old.Max) {
		return
	}
	for _, name := range v.Quota.StrictKeys {
		limit, limited := v.Quota.Max[name]
		if !limited {
			v.refuse(finding.QuotaKeysMismatch, fieldStrict, "Invalid value: max has no %s, so it cannot be checked strictly", name)
			continue
		}
		if used := v.Quota.Used[name]; used.Cmp(limit) > 0 {
			v.refuse(finding.QuotaMaxBelowUsed, fieldMax, "Invalid value: max %s of %s is less than the %s already used", limit.String(), name, used.String())
		}
	}
}

// namespaces: a pod belongs to one quota.
func (v *validation) namespaces() {
	for _, namespace := range v.Quota.Namespaces {
		if v.Old != nil && slices.Contains(v.Old.Namespaces, namespace) {
			continue
		}
		for other := range v.Quotas.claims[namespace] {
			if other != v.Quota.Name {
				v.refuse(finding.QuotaNamespaceTaken, fieldNamespaces, "Duplicate value: %q: namespace %s is already bound to quota %s", namespace, namespace, other)
				break
			}
		}
	}
}

// parentNamespaces: parents hold no pods, and so no namespaces either.
func (v *validation) parentNamespaces() {
	if !v.Quota.IsParent || v.Options.AllowParentPods {
		return
	}
	was := v.Old != nil && v.Old.IsParent
	for _, namespace := range v.Quota.Namespaces {
		if !was || !slices.Contains(v.Old.Namespaces, namespace) {
			v.refuse(finding.QuotaParentNamespaces, fieldNamespaces, "Forbidden: quota %s is a parent and cannot hold the pods of namespace %s", v.Quota.Name, namespace)
			return
		}
	}
	if v.Quota.Name == v.Quota.Namespace && !was {
		v.warn(finding.QuotaParentNamespaces, fieldName, "the parent has the name of its namespace: pods there are rejected unless they name another quota")
	}
}
