package quota

import (
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
			a.report(finding.QuotaKeysMismatch, spec, "parent %q has no max of %s, and so nothing of it to share", parent.Name, strings.Join(lacking, ", "))
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

func lackingKeys(spec, parent *Spec) []string {
	var lacking []string
	for _, limit := range spec.Max {
		if _, found := parent.Max.Get(limit.Resource); !found {
			lacking = append(lacking, string(limit.Resource))
		}
	}
	return slices.Compact(lacking)
}
