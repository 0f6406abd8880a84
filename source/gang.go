package source

import (
	"context"

	corev1 "k8s.io/api/core/v1"

	schedulingsigsv1alpha1 "koordinator.sh/koord/api/schedulingsigs/v1alpha1"
	"koordinator.sh/koord/decision/scheduling/gang"
)

// GangLister is a source that lists gangs. Implementations are safe for concurrent use.
type GangLister interface {
	// Gangs returns the PodGroups, and the gangs that pods describe in annotations, ordered by namespace and name. Only the pods are
	// indispensable.
	Gangs(ctx context.Context) (*Gangs, error)
}

// Gangs are all gangs.
type Gangs struct {
	Items []Gang
	// Incomplete names what could not be read, and why; empty when the answer is whole.
	Incomplete []string
}

// Gang is a gang with its members.
type Gang struct {
	gang.Key
	// Spec are the rules; nil where the members name a PodGroup that does not exist or cannot be seen.
	Spec *gang.Spec
	// Status is the phase and the counts of the members.
	Status schedulingsigsv1alpha1.PodGroupStatus
	// Members are its pods, by name.
	Members []GangMember
}

// GangMember is a pod of a gang.
type GangMember struct {
	Name     string
	NodeName string
	Phase    corev1.PodPhase
	// Refusal is why the pod has no node, as the scheduler says; empty where it does not say.
	Refusal string
}
