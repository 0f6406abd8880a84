package invariants

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	schedulingsigsv1alpha1 "koordinator.sh/koord/api/schedulingsigs/v1alpha1"
)

// Gang is a group of pods that start together or not at all.
type Gang struct {
	Name string
	// MinMember is how many of them must be bound if any is.
	MinMember int
	// Members are its pods, bound or not.
	Members []*corev1.Pod
	// Group names the gangs that start with it; itself may be among them.
	Group []types.NamespacedName
}

// Bound counts the members that have a node. Ended ones had one.
func (g Gang) Bound() int {
	bound := 0
	for _, pod := range g.Members {
		if pod.Spec.NodeName != "" {
			bound++
		}
	}
	return bound
}

// Whole checks that none or at least MinMember of the pods are bound. Pods of a gang are bound one after the other: a
// caller decides for how long a part may be.
func (g Gang) Whole() []Violation {
	bound := g.Bound()
	out := &found{invariant: GangWhole, subject: "gang " + g.Name}
	if bound > 0 && bound < g.MinMember {
		out.add("%d of %d pods are bound, minMember is %d", bound, len(g.Members), g.MinMember)
	}
	return out.list
}

// WholeWith checks that no pod of a gang is bound while a gang that must start with it is not whole. others are the gangs of
// its group that exist.
func (g Gang) WholeWith(others []*Gang) []Violation {
	out := &found{invariant: GangWhole, subject: "gang " + g.Name, list: g.Whole()}
	if g.Bound() == 0 {
		return out.list
	}
	existing := map[string]*Gang{g.Name: &g}
	for _, other := range others {
		existing[other.Name] = other
	}
	for _, name := range g.Group {
		other := existing[name.String()]
		switch {
		case other == nil:
			out.add("%d pods are bound, and %s of its group has no pods", g.Bound(), name)
		case other.Bound() < other.MinMember && other.Name != g.Name:
			out.add("%d pods are bound, and %d of %s of its group, minMember is %d", g.Bound(), other.Bound(), name, other.MinMember)
		}
	}
	return out.sorted()
}

// StatusAgrees compares the numbers in the status of a gang's PodGroup with its pods.
func (g Gang) StatusAgrees(group *schedulingsigsv1alpha1.PodGroup) []Violation {
	out := &found{invariant: CachesAgree, subject: "gang " + g.Name}
	if said := int(group.Status.Scheduled); said != g.Bound() {
		out.add("its status says that %d pods are bound, %d are", said, g.Bound())
	}
	return out.list
}
