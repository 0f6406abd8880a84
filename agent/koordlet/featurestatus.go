package koordlet

import (
	"koordinator.sh/koord/agent/diagnostics"
	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
)

// statusOf is what a feature reports of itself, by the name of its gate.
func (e *explainer) statusOf(gate string, on bool) diagnostics.FeatureStatus {
	if spec := specOf(gate); spec.Status != nil {
		return spec.Status(e, on)
	}
	return diagnostics.FeatureStatus{}
}

func yes(is bool) diagnosticsv1alpha1.FeatureState {
	if is {
		return diagnosticsv1alpha1.FeatureYes
	}
	return diagnosticsv1alpha1.FeatureNo
}
