package source

import (
	"context"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
)

// BatchExplainer is a source that explains many nodes at once. Implementations are safe for concurrent use.
type BatchExplainer interface {
	// ExplainNodes asks one question about several nodes, as ExplainNode does about one. The answers are in the order of the names;
	// nodes that do not exist are left out.
	ExplainNodes(ctx context.Context, names []string, spec diagnosticsv1alpha1.NodeExplanationSpec) ([]diagnosticsv1alpha1.NodeExplanation, error)
}
