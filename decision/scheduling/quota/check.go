package quota

import (
	"fmt"
	"slices"
	"strings"

	"koordinator.sh/koord/api/finding"
)

// checkSums reports what cannot be kept: children that are guaranteed more than their parent, and children that share a
// resource of which their parent has no share.
func (a *arrangement) checkSums() {
	sums := map[*Spec]Amounts{}
	for _, spec := range a.ordered {
		parent := a.parents[spec]
		if parent == nil {
			continue
		}
		sums[parent] = sums[parent].Plus(spec.Min)
		if lacking := lackingKeys(spec, parent); len(lacking) > 0 {
			a.report(finding.QuotaKeysMismatch, spec, "parent %q has no max of %s, so there is none to share", parent.Name, strings.Join(lacking, ", "))
		}
	}
	for _, spec := range a.ordered {
		var over []string
		for _, sum := range sums[spec] {
			if own, _ := spec.Min.Get(sum.Resource); sum.Value > own {
				over = append(over, string(sum.Resource))
			}
		}
		if len(over) > 0 {
			a.report(finding.QuotaMinOvercommitted, spec, "the mins of the children add up to more than the min of the quota: %s", strings.Join(over, ", "))
		}
	}
}

// Overclaims reports, of each resource, the largest min at the top of a tree whose mins add up to more than it has.
func (f *Forest) Overclaims() []Problem {
	var problems []Problem
	for _, id := range f.TreeIDs() {
		problems = append(problems, f.trees[id].overclaims()...)
	}
	return problems
}

func (t *Tree) overclaims() []Problem {
	var problems []Problem
	first, last := t.nodes[0].first, t.nodes[0].first+t.nodes[0].count
	for column, key := range t.keys {
		var sum wide
		largest := first
		for row := first; row < last; row++ {
			least := t.shares[t.at(row, column)].min
			sum.add(least)
			if least > t.shares[t.at(largest, column)].min {
				largest = row
			}
		}
		if total := t.total[column]; total > 0 && sum.exceeds(total) {
			spec, there, least := t.nodes[largest].spec, Quantity(key, total), Quantity(key, t.shares[t.at(largest, column)].min)
			problems = append(problems, Problem{Code: finding.QuotaBeyondTotal, Namespace: spec.Namespace, Quota: spec.Name, Message: fmt.Sprintf(
				"the mins of the top-level quotas exceed the total of the tree, %s of %s; the largest, %s, is that of this quota and may be reduced", there.String(), key, least.String())})
		}
	}
	return problems
}

func lackingKeys(spec, parent *Spec) []string {
	var lacking []string
	for _, limit := range spec.Max {
		if _, found := parent.Max.Get(limit.Resource); !found {
			lacking = append(lacking, string(limit.Resource))
		}
	}
	return slices.Compact(lacking)
}
