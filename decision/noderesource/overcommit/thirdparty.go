package overcommit

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/api/finding"
	"koordinator.sh/koord/decision/core/podrequest"
)

// mostTakers bounds the other schedulers that a note names.
const mostTakers = 3

// readThirdParty adds up what other schedulers took of batch.
func (c *calculation) readThirdParty() {
	allocations, err := extension.GetThirdPartyAllocations(c.in.Node.Annotations)
	if err != nil {
		c.unreadable = err.Error()
	}
	if allocations == nil {
		return
	}
	for i := range allocations.Allocations {
		c.thirdParty = c.thirdParty.Add(takenBy(&allocations.Allocations[i]))
	}
}

// takenBy is what one of them took of batch; nothing of another class counts.
func takenBy(allocation *extension.ThirdPartyAllocation) podrequest.Amount {
	if allocation.Priority != extension.PriorityBatch {
		return podrequest.Amount{}
	}
	cpu, memory := allocation.Resources[extension.BatchCPU], allocation.Resources[extension.BatchMemory]
	return podrequest.Amount{MilliCPU: max(cpu.Value(), 0), Memory: max(memory.Value(), 0)}
}

// explainThirdParty names who took what, of an origin.
func (c *calculation) explainThirdParty(t *term, k kind, origin int64) {
	if t == nil {
		return
	}
	t.Source = c.nodeSource(annotationField(extension.AnnotationNodeThirdPartyAllocations))
	t.Note = "used by other schedulers"
	if takers := c.takers(k); len(takers) > 0 {
		t.Note += ": " + strings.Join(takers, ", ")
	}
	if excess := k.of(c.thirdParty) - origin; excess > 0 {
		t.Note += fmt.Sprintf("; %s more than the node can offer", k.format(excess))
	}
}

// takers are the other schedulers that took of a resource, those that took most first.
func (c *calculation) takers(k kind) []string {
	allocations, err := extension.GetThirdPartyAllocations(c.in.Node.Annotations)
	if err != nil || allocations == nil {
		return nil
	}
	taken := map[string]int64{}
	for i := range allocations.Allocations {
		if amount := k.of(takenBy(&allocations.Allocations[i])); amount > 0 {
			taken[cmp.Or(allocations.Allocations[i].Name, "unnamed")] += amount
		}
	}
	names := make([]string, 0, len(taken))
	for name := range taken {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(cmp.Compare(taken[b], taken[a]), cmp.Compare(a, b)) })
	out := make([]string, 0, mostTakers)
	for i, name := range names {
		if i == mostTakers {
			return append(out, fmt.Sprintf("%d more", len(names)-mostTakers))
		}
		out = append(out, fmt.Sprintf("%.63s %s", name, k.format(taken[name])))
	}
	return out
}

// ignoredAllocations reports allocations of other schedulers, or parts of them, that take nothing of what is offered.
func (c *calculation) ignoredAllocations() []diagnosticsv1alpha1.Finding {
	allocations, err := extension.GetThirdPartyAllocations(c.in.Node.Annotations)
	if err != nil || allocations == nil {
		return nil // what cannot be read is told as unreadable
	}
	var out []diagnosticsv1alpha1.Finding
	for i := range allocations.Allocations {
		allocation := &allocations.Allocations[i]
		var names []string
		for name := range allocation.Resources {
			if name != extension.BatchCPU && name != extension.BatchMemory {
				names = append(names, string(name))
			}
		}
		slices.Sort(names)
		why := ""
		switch {
		case allocation.Priority != extension.PriorityBatch:
			why = fmt.Sprintf("its priority is %.63q, and only %s counts", allocation.Priority, extension.PriorityBatch)
		case len(names) > 0:
			why = fmt.Sprintf("%.200s does not count, only %s and %s", strings.Join(names, ", "), extension.BatchCPU, extension.BatchMemory)
		default:
			continue
		}
		out = append(out, found(finding.ConfigOutOfRange,
			fmt.Sprintf("Node %s: the allocation of scheduler %.63q is ignored: %s.", c.in.Node.Name, allocation.Name, why),
			"kubectl edit node "+c.in.Node.Name, c.nodeSource(annotationField(extension.AnnotationNodeThirdPartyAllocations))))
	}
	return out
}

// movedThirdParty is a resource of which the node offers another amount than what other schedulers leave of its published origin. It is
// written at once: while two schedulers share a node, what one of them has taken must not be offered to the other. It is empty where
// there is none, or the origin is not published.
func (r Result) movedThirdParty(node *corev1.Node) corev1.ResourceName {
	said, err := extension.GetOriginExtendedAllocatable(node.Annotations)
	if err != nil || said == nil {
		return ""
	}
	for _, k := range kinds[:2] {
		value, _ := r.Of(k.name)
		published, origin := Published(node, k.name), said.Resources[k.name]
		if published == nil || value.Withdrawn || value.Unknown != "" {
			continue
		}
		if *published != max(origin.Value()-k.of(r.ThirdParty), 0) {
			return k.name
		}
	}
	return ""
}
