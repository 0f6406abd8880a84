package nodefeature

import (
	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	"koordinator.sh/koord/decision/nodeqos/eviction"
)

// evicts asks the decision what a feature that evicts needs.
func evicts(feature eviction.Feature) func(*slov1alpha1.NodeSLOSpec) (diagnosticsv1alpha1.FeatureState, string) {
	return func(slo *slov1alpha1.NodeSLOSpec) (diagnosticsv1alpha1.FeatureState, string) {
		switch got := eviction.ConfigurationOf(feature, slo.ResourceUsedThresholdWithBE); got.State {
		case "":
			return diagnosticsv1alpha1.FeatureYes, "resourceUsedThresholdWithBE." + got.Reason
		case eviction.Off:
			return diagnosticsv1alpha1.FeatureNo, got.Reason
		default:
			return diagnosticsv1alpha1.FeatureNo, "resourceUsedThresholdWithBE." + got.Reason
		}
	}
}
