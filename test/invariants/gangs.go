package invariants

import (
	corev1 "k8s.io/api/core/v1"
)

// Gang is a group of pods that start together or not at all.
type Gang struct {
	Name string
	// MinMember is how many of them must be bound if any is.
	MinMember int
	// Members are its pods, bound or not.
	Members []*corev1.Pod
}

// Whole checks that none or at least MinMember of the pods are bound. Pods of a gang are bound one after the other: a
// caller decides for how long a part may be.
func (g Gang) Whole() []Violation {
	bound := 0
	for _, pod := range g.Members {
		if pod.Spec.NodeName != "" {
			bound++
		}
	}
	out := &found{invariant: GangWhole, subject: "gang " + g.Name}
	if bound > 0 && bound < g.MinMember {
		out.add("%d of %d pods are bound, minMember is %d", bound, len(g.Members), g.MinMember)
	}
	return out.list
}
