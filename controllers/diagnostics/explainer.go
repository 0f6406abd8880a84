package diagnostics

import (
	"context"

	"k8s.io/apimachinery/pkg/labels"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
)

// PodExplainer answers questions about pods. Errors that are an APIStatus reach the user as they are.
type PodExplainer interface {
	// ExplainPod returns the question with its status filled in.
	ExplainPod(ctx context.Context, question *diagnosticsv1alpha1.PodExplanation) (*diagnosticsv1alpha1.PodExplanation, error)
}

// PlacementReviewer says which nodes pods would get if they left theirs. Errors that are an APIStatus reach the user as they are.
type PlacementReviewer interface {
	// ReviewPlacements returns the question with its status filled in.
	ReviewPlacements(ctx context.Context, question *diagnosticsv1alpha1.PlacementReview) (*diagnosticsv1alpha1.PlacementReview, error)
}

// NodeExplainer answers questions about nodes. Errors that are an APIStatus reach the user as they are.
type NodeExplainer interface {
	// ExplainNode returns the answer without its origin.
	ExplainNode(ctx context.Context, spec diagnosticsv1alpha1.NodeExplanationSpec) (diagnosticsv1alpha1.NodeExplanationStatus, error)
}

// NodeOverviewer lists nodes as co-location sees them. Errors that are an APIStatus reach the user as they are.
type NodeOverviewer interface {
	// NodeOverviews returns the nodes that the selector matches, or the one with the name unless that is empty.
	NodeOverviews(ctx context.Context, name string, matching labels.Selector) (*diagnosticsv1alpha1.NodeOverviewList, error)
}

// QuotaExplainer explains ElasticQuotas. Errors that are an APIStatus reach the user as they are.
type QuotaExplainer interface {
	// ExplainQuota says where the runtime of a quota comes from.
	ExplainQuota(ctx context.Context, namespace, name string) (*diagnosticsv1alpha1.QuotaExplanation, error)
}

// AgentExplainer answers what the agents of nodes know. Errors that are an APIStatus reach the user as they are.
type AgentExplainer interface {
	// Explain adds what the agent of the node says to the answer.
	Explain(ctx context.Context, spec diagnosticsv1alpha1.NodeExplanationSpec, status *diagnosticsv1alpha1.NodeExplanationStatus) error
}
