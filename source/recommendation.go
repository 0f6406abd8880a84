package source

import (
	"context"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
)

// Recommender is a source of Recommendations. Implementations are safe for concurrent use.
type Recommender interface {
	// Recommendations returns Recommendations with what they rest on and what applying them does, ordered by namespace and
	// name. Only the Recommendations are indispensable: where the pods cannot be seen, the answers say so.
	Recommendations(ctx context.Context, query RecommendationQuery) (*diagnosticsv1alpha1.RecommendationExplanationList, error)
}

// RecommendationQuery selects Recommendations; the zero value selects those of all namespaces.
type RecommendationQuery struct {
	// Namespace to select; empty for all.
	Namespace string
	// Names to select; empty for all. A name that does not exist is an error with code KOORD0003.
	Names []string
	// LabelSelector in the syntax of kubectl -l; empty for all.
	LabelSelector string
}
