package quotaadmission

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"koordinator.sh/koord/api/finding"
)

// keys: parent and children limit the same resources, and a child is guaranteed nothing that its parent is not.
func (v *validation) keys() {
	q, old := v.Quota, v.Old
	newMax := old == nil || !sameKeys(old.Max, q.Max)
	newMin := old == nil || !sameKeys(old.Min, q.Min)
	if parent := v.knownParent(); parent != nil {
		if lacking := lacking(q.Max, parent.Max); len(lacking) > 0 && (newMax || v.moved()) {
			v.refuse(finding.QuotaKeysMismatch, fieldMax, "Invalid value: the max of parent %s has no %s", parent.Name, strings.Join(lacking, ", "))
		}
		if lacking := lacking(parent.Max, q.Max); len(lacking) > 0 && (newMax || v.moved()) && !v.Options.UpdateResourceKeys {
			v.refuse(finding.QuotaKeysMismatch, fieldMax, "Invalid value: the max of parent %s also has %s", parent.Name, strings.Join(lacking, ", "))
		}
		if lacking := lacking(q.Min, parent.Min); len(lacking) > 0 && (newMin || v.moved()) {
			v.refuse(finding.QuotaKeysMismatch, fieldMin, "Invalid value: the min of parent %s has no %s", parent.Name, strings.Join(lacking, ", "))
		}
	}
	children := v.Quotas.below[q.Name]
	if children == nil {
		return
	}
	if newMax {
		v.childrenMax(children)
	}
	if !newMin {
		return
	}
	for name := range children.min {
		if _, found := q.Min[name]; !found {
			v.refuse(finding.QuotaKeysMismatch, fieldMin, "Invalid value: children have a min of %s, but the quota does not", name)
		}
	}
}

func (v *validation) childrenMax(children *below) {
	own := map[string]bool{}
	for name := range v.Quota.Max {
		own[string(name)] = true
	}
	for signature := range children.maxKeys {
		theirs := strings.FieldsFunc(signature, func(r rune) bool { return r == ',' })
		for _, name := range theirs {
			if !own[name] {
				v.refuse(finding.QuotaKeysMismatch, fieldMax, "Invalid value: children have a max of %s, but the quota does not", name)
				return
			}
		}
		if len(theirs) != len(own) && !v.Options.UpdateResourceKeys {
			v.refuse(finding.QuotaKeysMismatch, fieldMax, "Invalid value: the quota and its children must have a max of the same resources, but some children have %s", strings.Join(theirs, ", "))
			return
		}
	}
}

// lacking are the resources of a list that another has not.
func lacking(list, other corev1.ResourceList) []string {
	var names []string
	for _, name := range keys(list) {
		if _, found := other[name]; !found {
			names = append(names, string(name))
		}
	}
	return names
}

// sums: children are guaranteed no more than their parent. The root guarantees nothing, and the root of a tree what the
// nodes have; force allows everything.
func (v *validation) sums() {
	q := v.Quota
	if q.Forced || q.TreeRoot {
		return
	}
	var worse []string
	if parent := v.knownParent(); parent != nil {
		for _, sum := range compare(parent, v.Quotas.minBelow(parent.Name, q.Name), q.Min) {
			v.verdict.Sums = append(v.verdict.Sums, sum)
			if sum.Exceeded && sum.Own.Sign() > 0 && (v.moved() || grown(q.Min, v.Old.Min, sum.Resource)) {
				worse = append(worse, describe(sum))
			}
		}
		if len(worse) > 0 {
			v.refuse(finding.QuotaMinOvercommitted, fieldMin, "Invalid value: checkMinQuotaSum: the mins of the children of parent %s exceed its min: %s", parent.Name, strings.Join(worse, ", "))
		}
	}
	worse = nil
	for _, sum := range compare(q, v.Quotas.minBelow(q.Name, ""), nil) {
		v.verdict.Sums = append(v.verdict.Sums, sum)
		if sum.Exceeded && (v.Old == nil || grown(v.Old.Min, q.Min, sum.Resource)) {
			worse = append(worse, describe(sum))
		}
	}
	if len(worse) > 0 {
		v.refuse(finding.QuotaMinOvercommitted, fieldMin, "Invalid value: checkMinQuotaSum: the mins of the children exceed the min of the quota: %s", strings.Join(worse, ", "))
	}
}

// compare adds up, by resource; a resource that a list has not counts as zero.
func compare(above *Quota, others, own corev1.ResourceList) []Sum {
	all := make(corev1.ResourceList, len(others)+len(own))
	for name, quantity := range others {
		all[name] = quantity
	}
	for name, quantity := range own {
		total := all[name].DeepCopy()
		total.Add(quantity)
		all[name] = total
	}
	sums := make([]Sum, 0, len(all))
	for _, name := range keys(all) {
		total := all[name]
		sum := Sum{Quota: above.Name, Resource: name, Others: others[name], Own: own[name], Limit: above.Min[name]}
		sum.Exceeded = total.Cmp(sum.Limit) > 0
		sums = append(sums, sum)
	}
	return sums
}

// grown reports whether a resource is more than it was.
func grown(now, before corev1.ResourceList, name corev1.ResourceName) bool {
	quantity := now[name]
	return quantity.Cmp(before[name]) > 0
}

func describe(sum Sum) string {
	total := sum.Others.DeepCopy()
	total.Add(sum.Own)
	return fmt.Sprintf("%s of %s, of %s", text(total), sum.Resource, text(sum.Limit))
}

func text(quantity resource.Quantity) string { return quantity.String() }
