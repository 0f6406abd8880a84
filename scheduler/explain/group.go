package explain

import (
	"cmp"
	"context"
	"maps"
	"slices"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/finding"
	"koordinator.sh/koord/scheduler/reason"
)

// group is one reason with the nodes that gave it.
type group struct {
	plugin, reason, key string
	// introduction stands in the same statuses.
	introduction string
	code         finding.Code
	// final is true when evicting pods cannot lift any of its refusals.
	final bool
	// everywhere is true when PreFilter refused the pod, whatever the node.
	everywhere bool
	members    []member
	sole       int32
}

// member is one node of a group.
type member struct {
	node    string
	subject reason.Subject
	// others counts the other groups that refuse the node.
	others int32
}

// groupRefusals sorts the refusals of an evaluation: most nodes first, and in each group the nodes closest to passing.
func (s *simulation) groupRefusals(ctx context.Context, e *evaluation) []*group {
	subjects := make([][]reason.Subject, len(e.nodes))
	inParallel(ctx, len(e.nodes), func(i int) {
		for _, r := range e.refusals[i] {
			if e.held != nil && r.plugin == e.held.by.Name() && r.reason == e.held.reason {
				subjects[i] = append(subjects[i], e.held.subject)
				continue
			}
			subjects[i] = append(subjects[i], s.inspect(ctx, e.states[i], e.pod, e.crowded[i], r))
		}
	})
	byIdentity := map[identity]*group{}
	for i := range e.nodes {
		for j, found := range subjects[i] {
			s.enter(byIdentity, e, i, j, found)
		}
	}
	groups := slices.Collect(maps.Values(byIdentity))
	for _, g := range groups {
		slices.SortFunc(g.members, func(a, b member) int {
			return cmp.Or(cmp.Compare(a.others, b.others), cmp.Compare(a.subject.Distance, b.subject.Distance), cmp.Compare(a.node, b.node))
		})
	}
	slices.SortFunc(groups, func(a, b *group) int {
		return cmp.Or(cmp.Compare(len(b.members), len(a.members)), cmp.Compare(b.sole, a.sole), cmp.Compare(rankOf(a), rankOf(b)),
			cmp.Compare(a.plugin, b.plugin), cmp.Compare(a.reason, b.reason), cmp.Compare(a.key, b.key))
	})
	return groups
}

// identity is what the refusals of one group have in common.
type identity struct{ plugin, reason, key string }

// enter puts one refusal of one node into its group.
func (s *simulation) enter(groups map[identity]*group, e *evaluation, node, index int, found reason.Subject) {
	r, all := e.refusals[node][index], len(e.refusals[node])
	id := identity{r.plugin, r.reason, found.Key}
	g := groups[id]
	if g == nil {
		g = &group{plugin: r.plugin, reason: r.reason, introduction: r.introduction, key: found.Key, code: cmp.Or(found.Code, s.codeOf(r)), final: true, everywhere: r.everywhere}
		groups[id] = g
	}
	g.final = g.final && r.final
	g.members = append(g.members, member{node: e.nodes[node].Node().Name, subject: found, others: int32(all - 1)})
	if all == 1 {
		g.sole++
	}
}

// closest is the member that needs the least of what this group refuses, whatever else refuses it.
func (g *group) closest() *member {
	best := &g.members[0]
	for i := range g.members {
		if g.members[i].subject.Distance < best.subject.Distance {
			best = &g.members[i]
		}
	}
	return best
}

// headline picks the group that matters most among the nodes that the pod chose: the one that alone keeps the most of
// them, then the one that keeps the most, then the class that people can do most about.
func headline(groups []*group) *group {
	if len(groups) == 0 {
		return nil
	}
	chosen := beyondChoice(groups)
	return slices.MinFunc(groups, func(a, b *group) int {
		soleA, allA := a.among(chosen)
		soleB, allB := b.among(chosen)
		return cmp.Or(cmp.Compare(soleB, soleA), cmp.Compare(allB, allA), cmp.Compare(rankOf(a), rankOf(b)))
	})
}

// beyondChoice returns the refused nodes that the pod's own node selector, affinity or node name does not exclude: a
// pod that insists on one node is not pending because of the others. It returns nil, for all, when it excludes them all.
func beyondChoice(groups []*group) map[string]bool {
	excluded := map[string]bool{}
	for _, g := range groups {
		if excludes(g.code) {
			for _, m := range g.members {
				excluded[m.node] = true
			}
		}
	}
	chosen := map[string]bool{}
	for _, g := range groups {
		for _, m := range g.members {
			if !excluded[m.node] {
				chosen[m.node] = true
			}
		}
	}
	if len(excluded) == 0 || len(chosen) == 0 {
		return nil
	}
	return chosen
}

// excludes tells whether a pod refuses nodes itself for a reason with the code.
func excludes(code finding.Code) bool {
	return code == finding.NodeAffinityMismatch || code == finding.NodeNameMismatch || code == finding.ReservationNodeMismatch
}

// among counts the group's nodes within a set, nil for all, and those of them that only this group refuses.
func (g *group) among(nodes map[string]bool) (sole, all int) {
	for _, m := range g.members {
		if nodes != nil && !nodes[m.node] {
			continue
		}
		all++
		if m.others == 0 {
			sole++
		}
	}
	return sole, all
}

func rankOf(g *group) int { return finding.ClassOf(g.code).Rank() }

// publish writes a group with at most limit nodes.
func (g *group) publish(limit int) diagnosticsv1alpha1.RefusalGroup {
	message, _ := g.members[0].subject.Describe()
	published := diagnosticsv1alpha1.RefusalGroup{
		Plugin: g.plugin, Code: string(g.code), Reason: g.reason, Introduction: g.introduction, Class: string(finding.ClassOf(g.code)), Message: message,
		Count: int32(len(g.members)), Sole: g.sole, PreemptionMayHelp: !g.final,
	}
	published.Mentions, published.ReasonMentions = g.mentions(limit), g.members[0].subject.ReasonMentions
	for _, m := range g.members[:min(limit, len(g.members))] {
		text, operands := m.subject.Describe()
		published.Nodes = append(published.Nodes, diagnosticsv1alpha1.NodeRefusal{Node: m.node, Message: text, Operands: operands, Others: m.others})
	}
	return published
}

// mentions are the objects that the published messages name.
func (g *group) mentions(limit int) []diagnosticsv1alpha1.SourceRef {
	seen := map[diagnosticsv1alpha1.SourceRef]bool{}
	var list []diagnosticsv1alpha1.SourceRef
	for _, m := range g.members[:min(max(limit, 1), len(g.members))] {
		for _, object := range m.subject.Mentions {
			if !seen[object] {
				seen[object] = true
				list = append(list, object)
			}
		}
	}
	return list
}
