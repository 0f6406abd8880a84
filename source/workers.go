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
