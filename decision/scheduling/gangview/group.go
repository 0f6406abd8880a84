package gangview

import (
	"cmp"
	"slices"

	"koordinator.sh/koord/decision/scheduling/gang"
)

// Together are the gangs that a condition holds for and those that start together with one of them, the gangs of a group one after the
// other, by namespace and name, and the groups in the order of their first gangs.
func Together(all []Gang, selected func(*Gang) bool) []Gang {
	wanted := map[string]bool{}
	first := map[string]gang.Key{}
	for i := range all {
		id := groupOf(&all[i])
		wanted[id] = wanted[id] || selected(&all[i])
		if known, found := first[id]; !found || compareKeys(all[i].Key, known) < 0 {
			first[id] = all[i].Key
		}
	}
	var out []Gang
	for i := range all {
		if wanted[groupOf(&all[i])] {
			out = append(out, all[i])
		}
	}
	slices.SortStableFunc(out, func(a, b Gang) int {
		return cmp.Or(compareKeys(first[groupOf(&a)], first[groupOf(&b)]), compareKeys(a.Key, b.Key))
	})
	return out
}

// groupOf names the group of a gang: that of its rules, or the gang itself.
func groupOf(g *Gang) string {
	if g.Spec != nil && g.Spec.GroupID != "" {
		return g.Spec.GroupID
	}
	return g.Key.String()
}

func compareKeys(a, b gang.Key) int {
	return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
}
