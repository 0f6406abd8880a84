package noderesource

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/decision/core/configmerge"
	"koordinator.sh/koord/decision/noderesource/nodeextension"
	"koordinator.sh/koord/decision/noderesource/overcommit"
)

// WithExtensions makes the explainer also explain the cpu normalization, the amplification and the devices of a node.
// NodeResourceTopologies and Devices are read through the reader when a question is asked.
func (e *Explainer) WithExtensions(reader client.Reader, sharedGPU bool) *Explainer {
	e.extensions = extensions{topologies: reader, devices: reader, sharedGPU: sharedGPU}
	return e
}

// addExtensions adds the waterfalls of what else the node gets, by the decisions that the controller carries out.
func (e *Explainer) addExtensions(ctx context.Context, node *corev1.Node, config configmerge.Config, spec diagnosticsv1alpha1.NodeExplanationSpec, status *diagnosticsv1alpha1.NodeExplanationStatus) {
	if e.extensions.topologies == nil {
		return
	}
	trace := &nodeextension.Trace{}
	decided, err := e.extensions.decide(ctx, node, config, trace)
	if err != nil {
		status.Incomplete = append(status.Incomplete, "cpu normalization, amplification or devices could not be read: "+err.Error())
		return
	}
	falls, published := trace.Waterfalls(decided, e.source, overcommit.MaxParts(spec))
	status.Waterfalls, status.Published = append(status.Waterfalls, falls...), append(status.Published, published...)
}
