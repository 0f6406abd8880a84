package gangview

import (
	corev1 "k8s.io/api/core/v1"

	schedulingsigsv1alpha1 "koordinator.sh/koord/api/schedulingsigs/v1alpha1"
	"koordinator.sh/koord/decision/scheduling/gang"
)

// Gang is a gang with its members.
type Gang struct {
	gang.Key
	// Spec are the rules; nil where the members name a PodGroup that does not exist or cannot be seen.
	Spec *gang.Spec
	// Status is the phase and the counts of the members.
	Status schedulingsigsv1alpha1.PodGroupStatus
	// Members are its pods, by name.
	Members []Member
}

// Member is a pod of a gang.
type Member struct {
	Name     string
	NodeName string
	Phase    corev1.PodPhase
	// Refusal is why the pod has no node, as the scheduler says; empty where it does not say.
	Refusal string
}

// Waits reports whether a member has no node yet.
func (m *Member) Waits() bool { return m.NodeName == "" && m.Phase == corev1.PodPending }

// needed is how many members must run together; 0 where that is not known.
func (g *Gang) needed() int {
	if g.Spec == nil {
		return 0
	}
	return int(g.Spec.MinMember)
}

// waiting counts the members without a node.
func (g *Gang) waiting() int {
	count := 0
	for i := range g.Members {
		if g.Members[i].Waits() {
			count++
		}
	}
	return count
}
