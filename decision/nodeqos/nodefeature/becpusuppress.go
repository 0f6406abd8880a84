package nodefeature

import (
	"koordinator.sh/koord/api/configuration"
	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	"koordinator.sh/koord/decision/nodeqos/suppression"
)

// BECPUSuppress limits best-effort pods to the CPU that services do not use.
var BECPUSuppress = Spec{
	Name:       "BECPUSuppress",
	Default:    true,
	Kind:       Values,
	Summary:    "limits best-effort pods to the CPU that services do not use",
	Decision:   "decision/nodeqos/suppression",
	Docs:       "node-agent.md#becpusuppress",
	NodeSLO:    "resourceUsedThresholdWithBE",
	Configured: suppresses,
	Settings:   Settings{Key: configuration.ResourceThresholdConfigKey, Paths: []string{"cpuSuppressThresholdPercent", "cpuSuppressMinPercent", "cpuSuppressPolicy"}},
}

func suppresses(slo *slov1alpha1.NodeSLOSpec) (diagnosticsv1alpha1.FeatureState, string) {
	if !suppression.Enabled(slo.ResourceUsedThresholdWithBE) {
		return diagnosticsv1alpha1.FeatureNo, "resourceUsedThresholdWithBE.enable is not true"
	}
	return diagnosticsv1alpha1.FeatureYes, "resourceUsedThresholdWithBE.enable is true"
}
