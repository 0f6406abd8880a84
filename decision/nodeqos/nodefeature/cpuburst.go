package nodefeature

import (
	"koordinator.sh/koord/api/configuration"
	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	"koordinator.sh/koord/decision/nodeqos/burst"
)

// CPUBurst lets containers of services exceed their CPU limit for a short time.
var CPUBurst = Spec{
	Name:       "CPUBurst",
	Default:    true,
	Kind:       Values,
	Summary:    "lets containers of services exceed their CPU limit for a short time",
	Decision:   "decision/nodeqos/burst",
	Docs:       "node-settings.md#cpuburst",
	NodeSLO:    "cpuBurstStrategy",
	Configured: bursts,
	Settings:   Settings{Key: configuration.CPUBurstConfigKey, Paths: []string{"policy", "cpuBurstPercent", "cfsQuotaBurstPercent"}},
}

func bursts(slo *slov1alpha1.NodeSLOSpec) (diagnosticsv1alpha1.FeatureState, string) {
	var config *slov1alpha1.CPUBurstConfig
	if slo.CPUBurstStrategy != nil {
		config = &slo.CPUBurstStrategy.CPUBurstConfig
	}
	decided := burst.ConfigOf(config, nil)
	state := diagnosticsv1alpha1.FeatureNo
	if decided.Bursts() {
		state = diagnosticsv1alpha1.FeatureYes
	}
	return state, "cpuBurstStrategy.policy is " + string(decided.Policy)
}
