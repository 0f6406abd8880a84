package agentview

import (
	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	"koordinator.sh/koord/decision/core/unknown"
	"koordinator.sh/koord/decision/nodeqos/nodefeature"
)

// Configured reports whether a NodeSLO asks for a feature, by the name of its gate, and what in it does. Features that are not declared
// are Unknown.
func Configured(feature string, slo *slov1alpha1.NodeSLOSpec) (diagnosticsv1alpha1.FeatureState, string) {
	if slo == nil {
		slo = &slov1alpha1.NodeSLOSpec{}
	}
	spec, declared := nodefeature.Named(feature)
	if !declared {
		return diagnosticsv1alpha1.FeatureUnknown, ""
	}
	return spec.Configured(slo)
}

// configured reports whether the NodeSLO of the node asks for a feature. Where that could not be read, only a feature that follows
// no NodeSLO is known to be asked for.
func (n *Node) configured(feature string) (diagnosticsv1alpha1.FeatureState, string) {
	state, reason := Configured(feature, n.SLO)
	if why := n.Unknown.Because(unknown.NodeSLOs); why != "" && state != diagnosticsv1alpha1.FeatureYes {
		return diagnosticsv1alpha1.FeatureUnknown, why
	}
	return state, reason
}

// featuresByObjects are the features that are listed where no agent lists its own: those that are on by default and those that a
// NodeSLO switches on. Those that evict come last.
func featuresByObjects() []nodefeature.Spec {
	var out []nodefeature.Spec
	for _, kind := range []nodefeature.Kind{nodefeature.Values, nodefeature.Other, nodefeature.Eviction} {
		for _, feature := range nodefeature.OfKind(kind) {
			if feature.Default || feature.NodeSLO != "" {
				out = append(out, feature)
			}
		}
	}
	return out
}

// features as the NodeSLO configures them.
func (n *Node) features() []diagnosticsv1alpha1.AgentFeature {
	features := featuresByObjects()
	out := make([]diagnosticsv1alpha1.AgentFeature, 0, len(features))
	for i := range features {
		configured, reason := n.configured(features[i].Name)
		out = append(out, diagnosticsv1alpha1.AgentFeature{
			Name: features[i].Name, Configured: configured, Reason: reason, Supported: diagnosticsv1alpha1.FeatureUnknown,
			Active: diagnosticsv1alpha1.FeatureUnknown, Effective: diagnosticsv1alpha1.FeatureUnknown,
		})
	}
	return out
}
