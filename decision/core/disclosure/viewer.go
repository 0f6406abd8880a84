package disclosure

import (
	"cmp"
	"slices"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
)

// viewer sees an answer, and counts what is withheld from it.
type viewer struct {
	may Access
	// known are objects that the answer may name whatever the rights: what the pod of the question names itself.
	known map[diagnosticsv1alpha1.SourceRef]bool
	// nodes, pods and reservations are true when the caller may get all of them.
	nodes, pods, reservations bool
	withheld                  map[Request]bool
}

func newViewer(may Access) *viewer {
	return &viewer{
		may: may, known: map[diagnosticsv1alpha1.SourceRef]bool{}, withheld: map[Request]bool{},
		nodes: may(all("Node")), pods: may(all("Pod")), reservations: may(all("Reservation")),
	}
}

// knows adds an object that the caller has the name of anyway.
func (v *viewer) knows(kind, namespace, name string) {
	v.known[diagnosticsv1alpha1.SourceRef{Kind: kind, Namespace: namespace, Name: name}] = true
}

// gets reports whether an object may be named, and counts it as withheld when it may not.
func (v *viewer) gets(object diagnosticsv1alpha1.SourceRef) bool {
	asked, needed := getting(object)
	if object.Field = ""; ofNode[object.Kind] {
		object.Kind = "Node"
	}
	if !needed || v.known[object] || v.may(asked) {
		return true
	}
	v.withheld[asked] = true
	return false
}

func (v *viewer) node(name string) bool {
	return v.gets(diagnosticsv1alpha1.SourceRef{Kind: "Node", Name: name})
}

func (v *viewer) pod(namespace, name string) bool {
	return v.gets(diagnosticsv1alpha1.SourceRef{Kind: "Pod", Namespace: namespace, Name: name})
}

func (v *viewer) reservation(name string) bool {
	return v.gets(diagnosticsv1alpha1.SourceRef{Kind: "Reservation", Name: name})
}

// all asks for each of the objects, so that each is counted.
func (v *viewer) all(objects []diagnosticsv1alpha1.SourceRef) bool {
	every := true
	for _, object := range objects {
		every = v.gets(object) && every
	}
	return every
}

// named keeps the objects that may be named.
func (v *viewer) named(objects []diagnosticsv1alpha1.SourceRef) []diagnosticsv1alpha1.SourceRef {
	return slices.DeleteFunc(objects, func(object diagnosticsv1alpha1.SourceRef) bool { return !v.gets(object) })
}

// nodeTexts is true when the caller may get everything that a sentence about a node may name.
func (v *viewer) nodeTexts() bool { return v.nodes && v.pods && v.reservations }

// counts are the objects withheld, by their resource.
func (v *viewer) counts() []diagnosticsv1alpha1.Withheld {
	byResource := map[string]int32{}
	for asked := range v.withheld {
		byResource[asked.resource()]++
	}
	var list []diagnosticsv1alpha1.Withheld
	for resource, count := range byResource {
		list = append(list, diagnosticsv1alpha1.Withheld{Resource: resource, Count: count})
	}
	slices.SortFunc(list, func(a, b diagnosticsv1alpha1.Withheld) int { return cmp.Compare(a.Resource, b.Resource) })
	return list
}
