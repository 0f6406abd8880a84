package source

import (
	"context"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
)

// WorkersExplainer is a source that explains ElasticWorkers. Implementations are safe for concurrent use.
type WorkersExplainer interface {
	// ExplainWorkers says why the target of ElasticWorkers has the size it has. A name that does not exist is an error with code KOORD0003.
	ExplainWorkers(ctx context.Context, namespace, name string) (*diagnosticsv1alpha1.WorkersExplanation, error)
}

// WorkersLister is a source that lists ElasticWorkers. Implementations are safe for concurrent use.
type WorkersLister interface {
	// Workers returns ElasticWorkers, each with why its target has the size it has, ordered by namespace and name.
	Workers(ctx context.Context, query WorkersQuery) (*diagnosticsv1alpha1.WorkersExplanationList, error)
}

// WorkersQuery selects ElasticWorkers; the zero value selects those of all namespaces.
type WorkersQuery struct {
	// Namespace to select; empty for all.
	Namespace string
	// Names to select; empty for all. A name that does not exist is an error with code KOORD0003.
	Names []string
	// LabelSelector in the syntax of kubectl -l; empty for all.
	LabelSelector string
}
