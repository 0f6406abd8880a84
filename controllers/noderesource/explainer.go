package noderesource

import (
	"context"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/controllers/sloconfig"
	"koordinator.sh/koord/decision/nodeqos/claims"
	"koordinator.sh/koord/decision/noderesource/overcommit"
)

// Explainer answers where a node's resources come from, out of the same cache and by the same decision as the controller.
// It is safe for concurrent use, and answers on every replica.
type Explainer struct {
	reader client.Reader
	config *sloconfig.Store
	clock  clock.PassiveClock
	source types.NamespacedName
	// predictions that the controller calculates with; nil where there are none.
	predictions *Predictions
	// devices reads Devices; nil where they are not looked at.
	devices client.Reader
	// extensions decide what else the node gets.
	extensions extensions
}

// NewExplainer returns an explainer over a cache that has PodNodeIndex. The source is the ConfigMap the store is filled from.
func NewExplainer(reader client.Reader, config *sloconfig.Store, passive clock.PassiveClock, source types.NamespacedName) *Explainer {
	return &Explainer{reader: reader, config: config, clock: passive, source: source}
}

// WithPredictions makes the explainer calculate with the predictions that the controller calculates with.
func (e *Explainer) WithPredictions(predictions *Predictions) *Explainer {
	e.predictions = predictions
	return e
}

// ExplainNode returns the answer without its origin. An unknown node is a NotFound error. Of a question to the agent that names no
// resources it answers what is read from the cache, and neither devices nor what else the node gets.
func (e *Explainer) ExplainNode(ctx context.Context, spec diagnosticsv1alpha1.NodeExplanationSpec) (diagnosticsv1alpha1.NodeExplanationStatus, error) {
	in, err := read(ctx, e.reader, spec.NodeName)
	if err != nil {
		return diagnosticsv1alpha1.NodeExplanationStatus{}, err
	}
	in.Now, in.ConfigMap = e.clock.Now(), e.source
	config, loaded := e.config.Config()
	if loaded {
		in.Strategy = config.Colocation(in.Node)
		if e.predictions != nil {
			in.Predictions, in.Steadiness = e.predictions.Of(in), e.predictions.steady.of(spec.NodeName)
			if spec.Outlook {
				in.Ahead = e.predictions.Ahead(in)
			}
		}
	}
	status := overcommit.ExplainNode(in, spec)
	if spec.Agent != nil && len(spec.Resources) == 0 {
		return status, nil
	}
	status.Findings = append(status.Findings, claims.Findings(in.Pods)...)
	e.addOrphanedDevices(ctx, &in, &status)
	if !loaded {
		status.Incomplete = append(status.Incomplete, "the configuration has not been read yet")
		return status, nil
	}
	if len(spec.Resources) == 0 {
		e.addExtensions(ctx, in.Node, config, spec, &status)
	}
	return status, nil
}
