package numa

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/decision/core/cpuset"
)

// maxParts bounds the pods that an operand lists.
const maxParts = 10

// Operands of a verdict of Filter: CPUs needed and free, then what each zone has left of each resource.
func (t *Trace) Operands(Verdict) []diagnosticsv1alpha1.Term {
	var terms []diagnosticsv1alpha1.Term
	node := t.node()
	if t.terms.bind && node.CPUs != nil {
		terms = t.cpuOperands()
	}
	if t.taken > 0 || t.wanted > 0 {
		terms = append(terms,
			t.info("cpuAmplifiedRequest", t.wanted, diagnosticsv1alpha1.MilliCPU, nil),
			t.info("cpuAmplifiedTaken", t.taken, diagnosticsv1alpha1.MilliCPU, nil),
			t.info("cpuAllocatable", t.input.AllocatableMilliCPU, diagnosticsv1alpha1.MilliCPU, &diagnosticsv1alpha1.SourceRef{Kind: "Node", Name: node.Name, Field: "status.allocatable"}))
	}
	for _, name := range t.input.alignable() {
		terms = append(terms, t.info(camel(name)+"Needed", t.input.wanted(t.terms, name), unitOf(name), nil))
		for i, zone := range node.Zones {
			prefix := fmt.Sprintf("zone%d", zone.ID) + title(camel(name))
			terms = append(terms,
				t.info(prefix+"Free", t.input.Ledger.Zones[i].Free[name], unitOf(name), nil),
				t.info(prefix+"Total", zone.Total[name], unitOf(name), t.reported("zones")))
		}
	}
	return terms
}

func (t *Trace) cpuOperands() []diagnosticsv1alpha1.Term {
	node := t.node()
	count := cpuset.CountOf(node.CPUs, t.free)
	unit := diagnosticsv1alpha1.Count
	terms := []diagnosticsv1alpha1.Term{
		t.info("cpusNeeded", int64(t.terms.count), unit, nil),
		t.info("cpusFree", int64(count.Free), unit, nil),
		t.info("cpusOnIdleCores", int64(count.Idle), unit, nil),
		t.info("coresWithFreeCPU", int64(count.Cores), unit, nil),
		t.info("cpusTotal", int64(node.CPUs.CPUs.Len()), unit, t.reported("metadata.annotations")),
	}
	for _, group := range node.CPUs.Nodes {
		here := cpuset.CountOf(node.CPUs, t.free.Intersection(group.CPUs))
		terms = append(terms,
			t.info(fmt.Sprintf("zone%dCPUsFree", group.ID), int64(here.Free), unit, nil),
			t.info(fmt.Sprintf("zone%dCPUsOnIdleCores", group.ID), int64(here.Idle), unit, nil))
	}
	parts, omitted := t.owners()
	owned := t.info("cpusOwned", int64(t.input.Ledger.Owned.Len()), unit, nil)
	owned.Parts, owned.PartsOmitted = parts, omitted
	return append(terms, owned)
}

// owners lists the pods that own CPUs, those with the most first.
func (t *Trace) owners() ([]diagnosticsv1alpha1.Term, int32) {
	var parts []diagnosticsv1alpha1.Term
	for _, holder := range t.input.Ledger.Holders {
		if holder.CPUs.IsEmpty() {
			continue
		}
		parts = append(parts, diagnosticsv1alpha1.Term{
			Name: holder.Namespace + "/" + holder.Name, Operator: diagnosticsv1alpha1.Plus, Value: int64(holder.CPUs.Len()), Unit: diagnosticsv1alpha1.Count,
			Source: &diagnosticsv1alpha1.SourceRef{Kind: "Pod", Namespace: holder.Namespace, Name: holder.Name}, Note: holder.CPUs.String(),
		})
	}
	slices.SortStableFunc(parts, func(a, b diagnosticsv1alpha1.Term) int {
		if a.Value != b.Value {
			return int(b.Value - a.Value)
		}
		return strings.Compare(a.Name, b.Name)
	})
	if len(parts) > maxParts {
		return parts[:maxParts], int32(len(parts) - maxParts)
	}
	return parts, 0
}

func (t *Trace) info(name string, value int64, unit diagnosticsv1alpha1.Unit, source *diagnosticsv1alpha1.SourceRef) diagnosticsv1alpha1.Term {
	return diagnosticsv1alpha1.Term{Name: name, Operator: diagnosticsv1alpha1.Info, Value: value, Unit: unit, Source: source}
}

func (t *Trace) reported(field string) *diagnosticsv1alpha1.SourceRef {
	return &diagnosticsv1alpha1.SourceRef{Kind: "NodeResourceTopology", Name: t.node().Name, Field: field}
}

// camel makes a lowerCamelCase key of a resource name.
func camel(name corev1.ResourceName) string {
	words := strings.FieldsFunc(string(name), func(r rune) bool { return r == '-' || r == '/' || r == '.' })
	for i := 1; i < len(words); i++ {
		words[i] = title(words[i])
	}
	return strings.Join(words, "")
}

func title(word string) string {
	if word == "" {
		return word
	}
	return strings.ToUpper(word[:1]) + word[1:]
}

func unitOf(name corev1.ResourceName) diagnosticsv1alpha1.Unit {
	switch name {
	case corev1.ResourceCPU:
		return diagnosticsv1alpha1.MilliCPU
	case corev1.ResourceMemory, corev1.ResourceEphemeralStorage:
		return diagnosticsv1alpha1.Bytes
	}
	return diagnosticsv1alpha1.Count
}
