package quotaadmission

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/api/finding"
)

// total refuses mins at the top of a tree that add up to more than the tree has, even for a forced update. An update that raises no
// min is admitted, so that quotas can still be edited after nodes are removed. The root of a separate tree follows its nodes.
func (v *validation) total() {
	q := v.Quota
	if len(v.Total) == 0 || !NeedsTotal(v.Input) {
		return
	}
	there, known := v.Quotas.total(q.TreeID, v.Total)
	if !known {
		return
	}
	var worse []string
	for _, sum := range compare(&Quota{Name: extension.RootQuotaName, Min: there}, v.Quotas.minAtTop(q.TreeID, q.Name), q.Min) {
		v.verdict.Sums = append(v.verdict.Sums, sum)
		arrived := v.moved() || v.Old.TreeID != q.TreeID
		if sum.Exceeded && sum.Own.Sign() > 0 && (arrived || grown(q.Min, v.Old.Min, sum.Resource)) {
			worse = append(worse, fmt.Sprintf("%s, of which %s remain", describe(sum), text(remaining(sum))))
		}
	}
	if len(worse) > 0 {
		v.refuse(finding.QuotaBeyondTotal, fieldMin, "Invalid value: the mins of the top-level quotas of %s exceed its total: %s", treeName(q.TreeID), strings.Join(worse, "; "))
	}
}

// remaining is what others leave.
func remaining(sum Sum) resource.Quantity {
	rest := sum.Limit.DeepCopy()
	if rest.Sub(sum.Others); rest.Sign() < 0 {
		return resource.Quantity{}
	}
	return rest
}

func treeName(id string) string {
	if id == "" {
		return "the default tree"
	}
	return fmt.Sprintf("tree %q", id)
}

// total is what a tree has, and whether that is known; cluster is what all nodes have together. What a separate tree has is known
// only from its root. The default tree has what the others do not take.
func (x *Index) total(tree string, cluster corev1.ResourceList) (corev1.ResourceList, bool) {
	there := corev1.ResourceList{}
	if tree == "" {
		there = cluster.DeepCopy()
	}
	known := tree == ""
	for _, name := range slices.Sorted(maps.Keys(x.roots)) {
		root := x.roots[name]
		switch {
		case tree == "" && !root.IgnoreDefaultTree:
			for name, quantity := range positive(root.Total) {
				left := there[name]
				if left.Sub(quantity); left.Sign() < 0 {
					left = resource.Quantity{}
				}
				there[name] = left
			}
		case tree != "" && root.TreeID == tree:
			known = true
			for name, quantity := range positive(root.Total) {
				sum := there[name]
				sum.Add(quantity)
				there[name] = sum
			}
		}
	}
	return there, known
}

// positive yields the amounts of a list that are more than nothing: negative ones count as 0.
func positive(list corev1.ResourceList) corev1.ResourceList {
	list = maps.Clone(list)
	maps.DeleteFunc(list, func(_ corev1.ResourceName, quantity resource.Quantity) bool { return quantity.Sign() < 0 })
	return list
}

// minAtTop is what the quotas at the top of a tree are guaranteed together, leaving one of them out.
func (x *Index) minAtTop(tree, except string) corev1.ResourceList {
	totals := make(corev1.ResourceList, len(x.tops[tree]))
	for name, total := range x.tops[tree] {
		totals[name] = total.total.DeepCopy()
	}
	if q := x.Get(except); q != nil && q.belowRoot() && q.TreeID == tree && !q.builtIn() {
		for name, quantity := range q.Min {
			rest := totals[name]
			rest.Sub(quantity)
			totals[name] = rest
		}
	}
	return totals
}
