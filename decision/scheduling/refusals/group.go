package refusals

import (
	"cmp"
	"maps"
	"slices"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/finding"
)

// Group is one reason with the nodes that gave it.
type Group struct {
	// Members are the nodes, the one closest to passing first.
	Members []Member
	// sole counts those that nothing else refuses.
	sole int32
	// final is true when evicting pods cannot lift any of the refusals.
	final bool
}

// Member is one node of a group.
type Member struct {
	Node string
	Refusal
	// others counts the other reasons that refuse the node.
	others int32
}

// identity is what the refusals of one group have in common.
type identity struct{ plugin, reason, key string }

// GroupByReason sorts the refusals of nodes into groups, those with most nodes first.
func GroupByReason(nodes []string, refused [][]Refusal) []*Group {
	byIdentity := map[identity]*Group{}
	for i, list := range refused {
		for _, r := range list {
			id := identity{r.Plugin, r.Reason, r.Key}
			g := byIdentity[id]
			if g == nil {
				g = &Group{final: true}
				byIdentity[id] = g
			}
			g.add(Member{Node: nodes[i], Refusal: r, others: int32(len(list) - 1)})
		}
	}
	groups := slices.Collect(maps.Values(byIdentity))
	for _, g := range groups {
		slices.SortFunc(g.Members, func(a, b Member) int {
			return cmp.Or(cmp.Compare(a.others, b.others), cmp.Compare(a.Distance, b.Distance), cmp.Compare(a.Node, b.Node))
		})
	}
	slices.SortFunc(groups, func(a, b *Group) int {
		x, y := &a.Members[0], &b.Members[0]
		return cmp.Or(cmp.Compare(len(b.Members), len(a.Members)), cmp.Compare(b.sole, a.sole), cmp.Compare(a.rank(), b.rank()),
			cmp.Compare(x.Plugin, y.Plugin), cmp.Compare(x.Reason, y.Reason), cmp.Compare(x.Key, y.Key))
	})
	return groups
}

func (g *Group) add(m Member) {
	g.Members = append(g.Members, m)
	g.final = g.final && m.Final
	if m.others == 0 {
		g.sole++
	}
}

// Code of the refusals.
func (g *Group) Code() finding.Code { return g.Members[0].Code }

func (g *Group) rank() int { return finding.ClassOf(g.Code()).Rank() }

// closest is the member that needs the least of what this group refuses, whatever else refuses it.
func (g *Group) closest() *Member {
	best := &g.Members[0]
	for i := range g.Members {
		if g.Members[i].Distance < best.Distance {
			best = &g.Members[i]
		}
	}
	return best
}

// Headline picks the group that matters most among the nodes that the pod chose: the one that alone keeps the most of
// them, then the one that keeps the most, then the class that people can do most about. It is nil without groups.
func Headline(groups []*Group) *Group {
	if len(groups) == 0 {
		return nil
	}
	chosen := beyondChoice(groups)
	return slices.MinFunc(groups, func(a, b *Group) int {
		soleA, allA := a.among(chosen)
		soleB, allB := b.among(chosen)
		return cmp.Or(cmp.Compare(soleB, soleA), cmp.Compare(allB, allA), cmp.Compare(a.rank(), b.rank()))
	})
}

// beyondChoice returns the refused nodes that the pod's own node selector, affinity or node name does not exclude: a
// pod that insists on one node is not pending because of the others. It returns nil, for all, when it excludes them all.
func beyondChoice(groups []*Group) map[string]bool {
	excluded := map[string]bool{}
	for _, g := range groups {
		if excludes(g.Code()) {
			for _, m := range g.Members {
				excluded[m.Node] = true
			}
		}
	}
	chosen := map[string]bool{}
	for _, g := range groups {
		for _, m := range g.Members {
			if !excluded[m.Node] {
				chosen[m.Node] = true
			}
		}
	}
	if len(excluded) == 0 || len(chosen) == 0 {
		return nil
	}
	return chosen
}

// excludes reports whether a pod refuses nodes itself for a reason with the code.
func excludes(code finding.Code) bool {
	return code == finding.NodeAffinityMismatch || code == finding.NodeNameMismatch || code == finding.ReservationNodeMismatch
}

// among counts the group's nodes within a set, nil for all, and those of them that only this group refuses.
func (g *Group) among(nodes map[string]bool) (sole, all int) {
	for _, m := range g.Members {
		if nodes != nil && !nodes[m.Node] {
			continue
		}
		all++
		if m.others == 0 {
			sole++
		}
	}
	return sole, all
}

// Publish writes a group with at most limit nodes.
func (g *Group) Publish(limit int) diagnosticsv1alpha1.RefusalGroup {
	first := &g.Members[0]
	message, _ := first.Describe()
	published := diagnosticsv1alpha1.RefusalGroup{
		Plugin: first.Plugin, Code: string(first.Code), Reason: first.Reason, Introduction: first.Introduction, Class: string(finding.ClassOf(first.Code)), Message: message,
		Count: int32(len(g.Members)), Sole: g.sole, PreemptionMayHelp: !g.final,
	}
	published.Mentions, published.ReasonMentions = g.mentions(limit), first.ReasonMentions
	for _, m := range g.Members[:min(limit, len(g.Members))] {
		text, operands := m.Describe()
		published.Nodes = append(published.Nodes, diagnosticsv1alpha1.NodeRefusal{Node: m.Node, Message: text, Operands: operands, Others: m.others})
	}
	return published
}

// mentions are the objects that the published messages name.
func (g *Group) mentions(limit int) []diagnosticsv1alpha1.SourceRef {
	seen := map[diagnosticsv1alpha1.SourceRef]bool{}
	var list []diagnosticsv1alpha1.SourceRef
	for _, m := range g.Members[:min(max(limit, 1), len(g.Members))] {
		for _, object := range m.Mentions {
			if !seen[object] {
				seen[object] = true
				list = append(list, object)
			}
		}
	}
	return list
}
