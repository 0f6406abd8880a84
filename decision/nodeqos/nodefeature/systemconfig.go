package nodefeature

import (
	"koordinator.sh/koord/api/configuration"
	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	"koordinator.sh/koord/decision/nodeqos/sysctl"
)

// SystemConfig sets kernel parameters of the machine.
var SystemConfig = Spec{
	Name:       "SystemConfig",
	Kind:       Values,
	Summary:    "sets kernel parameters of the whole node, in `/proc` and `/sys`",
	Decision:   "decision/nodeqos/sysctl",
	Docs:       "node-settings.md#systemconfig",
	NodeSLO:    "systemStrategy",
	Configured: setsParameters,
	Settings:   Settings{Key: configuration.SystemConfigKey, Paths: []string{"minFreeKbytesFactor", "watermarkScaleFactor", "memcgReapBackGround", "schedGroupIdentityEnabled", "schedIdleSaverWmark", "pageCacheLimitEnabled"}},
}

// setsParameters asks the decision, for which it does not matter how much memory the node has.
func setsParameters(slo *slov1alpha1.NodeSLOSpec) (diagnosticsv1alpha1.FeatureState, string) {
	if slo.SystemStrategy == nil {
		return diagnosticsv1alpha1.FeatureNo, "the NodeSLO has no systemStrategy"
	}
	if decided := sysctl.Of(slo.SystemStrategy, 0); len(decided.Settings) == 0 && len(decided.Problems) == 0 {
		return diagnosticsv1alpha1.FeatureNo, "systemStrategy sets no parameter of the kernel"
	}
	return diagnosticsv1alpha1.FeatureYes, "systemStrategy"
}
