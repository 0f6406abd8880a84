package quota

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// Headroom is how much another pod of a quota may request of a resource to be admitted, and the quota that bounds it: Unlimited and ""
// where none limits the resource. What siblings lend counts: the runtime grows with what is requested.
func (t *Tree) Headroom(quota string, resource corev1.ResourceName, rules Rules) (room int64, bound string) {
	if _, found := t.row[quota]; !found {
		return Unlimited, ""
	}
	trial := t.Clone()
	verdict, bound := trial.try(quota, resource, Unlimited, rules)
	if verdict.Passed() {
		return Unlimited, ""
	}
	low, high := int64(0), int64(Unlimited) // admitted, and not
	for high-low > 1 {
		middle := low + (high-low)/2
		if verdict, by := trial.try(quota, resource, middle, rules); verdict.Passed() {
			low = middle
		} else {
			high, bound = middle, by
		}
	}
	return low, bound
}

// try supposes a pod that requests so much. It returns the verdict on it, and the quota that refuses it.
func (t *Tree) try(quota string, resource corev1.ResourceName, request int64, rules Rules) (Verdict, string) {
	pod := Holding{Request: Amounts{{resource, request}}}
	t.Hold(quota, pod)
	var admission Admission
	t.Admission(quota, pod, rules, &admission)
	verdict := admission.Verdict()
	t.Release(quota, pod)
	if verdict.Passed() {
		return verdict, ""
	}
	return verdict, admission.Quotas[verdict.Level]
}

// Debtor is a quota that uses more than it may.
type Debtor struct {
	Quota string
	// Used and Runtime, which is less.
	Used, Runtime int64
	// NonPreemptible is the part of Used that is never evicted.
	NonPreemptible int64
}

// Reclaim supposes that a quota asks for all of its min. It returns by how much its runtime grows then, and which quotas beside it, and
// beside those above it, use more than they may: until they give it back, the nodes may have no room. The largest excess comes first.
func (t *Tree) Reclaim(quota string, resource corev1.ResourceName) (gain int64, debtors []Debtor) {
	row, found := t.row[quota]
	column, known := t.column[resource]
	if !found || !known || t.nodes[row].outside || row == 0 {
		return 0, nil
	}
	t.refresh(row)
	at := t.at(row, column)
	trial := t.Clone()
	if lacking := t.shares[at].min - min(t.shares[at].min, t.request(row, at)); lacking > 0 {
		trial.Hold(quota, Holding{Request: Amounts{{resource, lacking}}})
	}
	trial.Refresh()
	gain = trial.shares[at].runtime - t.shares[at].runtime
	for above := row; trial.nodes[above].parent != none; above = trial.nodes[above].parent {
		debtors = trial.addDebtors(debtors, above, column)
	}
	slices.SortFunc(debtors, compareDebts)
	return gain, debtors
}

// addDebtors adds the siblings of a quota that use more than they may.
func (t *Tree) addDebtors(debtors []Debtor, row int32, column int) []Debtor {
	parent := &t.nodes[t.nodes[row].parent]
	for sibling := parent.first; sibling < parent.first+parent.count; sibling++ {
		at := t.at(sibling, column)
		if used := t.sums[at].used.value(); sibling != row && used > t.shares[at].runtime && t.sums[at].max >= 0 {
			debtors = append(debtors, Debtor{Quota: t.nodes[sibling].spec.Name, Used: used, Runtime: t.shares[at].runtime, NonPreemptible: t.sums[at].nonPreemptibleUsed.value()})
		}
	}
	return debtors
}

// Excess is by how much a quota uses more than it may.
func (d Debtor) Excess() int64 { return d.Used - d.Runtime }

func compareDebts(a, b Debtor) int {
	return cmp.Or(cmp.Compare(b.Excess(), a.Excess()), compareNames(&Spec{Name: a.Quota}, &Spec{Name: b.Quota}))
}
