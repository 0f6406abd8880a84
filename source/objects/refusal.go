package objects

import (
	"cmp"
	"slices"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/finding"
)

// refusal is one reason of one node.
type refusal struct {
	plugin   string
	code     finding.Code
	reason   string
	message  string
	operands []diagnosticsv1alpha1.Term
	// distance from passing, 0 and up; comparable within a group only.
	distance float64
	// evictable is true when evicting pods could change it.
	evictable bool
}

// group collects the refusals of all nodes by plugin and reason, most nodes first.
func group(refusals map[string][]refusal, maxNodes int) []diagnosticsv1alpha1.RefusalGroup {
	type key struct{ plugin, reason string }
	type member struct {
		node string
		refusal
	}
	members := map[key][]member{}
	for node, list := range refusals {
		for _, r := range list {
			k := key{r.plugin, r.reason}
			members[k] = append(members[k], member{node, r})
		}
	}
	groups := make([]diagnosticsv1alpha1.RefusalGroup, 0, len(members))
	for k, list := range members {
		slices.SortFunc(list, func(a, b member) int {
			return cmp.Or(cmp.Compare(len(refusals[a.node]), len(refusals[b.node])), cmp.Compare(a.distance, b.distance), cmp.Compare(a.node, b.node))
		})
		closest := list[0]
		g := diagnosticsv1alpha1.RefusalGroup{
			Plugin: k.plugin, Reason: k.reason, Code: string(closest.code), Class: string(finding.ClassOf(closest.code)),
			Message: closest.message, Count: int32(len(list)), PreemptionMayHelp: closest.evictable,
		}
		for i, m := range list {
			others := int32(len(refusals[m.node]) - 1)
			if others == 0 {
				g.Sole++
			}
			if i < maxNodes {
				g.Nodes = append(g.Nodes, diagnosticsv1alpha1.NodeRefusal{Node: m.node, Message: m.message, Operands: m.operands, Others: others})
			}
		}
		groups = append(groups, g)
	}
	slices.SortFunc(groups, func(a, b diagnosticsv1alpha1.RefusalGroup) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(finding.Class(a.Class).Rank(), finding.Class(b.Class).Rank()),
			cmp.Compare(a.Plugin, b.Plugin), cmp.Compare(a.Reason, b.Reason))
	})
	return groups
}
