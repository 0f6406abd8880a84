package source

import (
	"context"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/decision/scheduling/gangview"
)

// GangLister is a source that lists gangs. Implementations are safe for concurrent use.
type GangLister interface {
	// Gangs returns the PodGroups, and the gangs that pods describe in annotations, ordered by namespace and name. Only the pods are
	// indispensable.
	Gangs(ctx context.Context) (*Gangs, error)
}

// GangExplainer is a source that explains gangs. Implementations are safe for concurrent use.
type GangExplainer interface {
	// ExplainGang says how far a gang is, what it waits for and what comes next. Only the pods are indispensable. A name that does not exist is an
	// error with code KOORD0003.
	ExplainGang(ctx context.Context, namespace, name string) (*diagnosticsv1alpha1.GangExplanation, error)
}

// GangViewer is a source of gangs with those that start together. Implementations are safe for concurrent use.
type GangViewer interface {
	// GangTree returns the gangs of a namespace, or of all when it is empty, and those that start together with one of them; with a name, that
	// gang and those. Gangs that start together follow each other. Only the pods are indispensable; where those of all namespaces may not be
	// listed, those of the namespace are, and the answer says so. A name that does not exist is an error with code KOORD0003.
	GangTree(ctx context.Context, namespace, name string) (*diagnosticsv1alpha1.GangExplanationList, error)
}

// Gangs are all gangs.
type Gangs struct {
	Items []Gang
	// Incomplete names what could not be read, and why; empty when the answer is whole.
	Incomplete []string
}

// Gang is a gang with its members.
type Gang = gangview.Gang

// GangMember is a pod of a gang.
type GangMember = gangview.Member
