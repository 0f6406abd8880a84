package nodefeature

import (
	"koordinator.sh/koord/api/configuration"
	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/extension"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	"koordinator.sh/koord/decision/nodeqos/resctrl"
)

// RdtResctrl divides the last-level cache and the memory bandwidth by class. It does nothing until a class has a share.
var RdtResctrl = Spec{
	Name:       "RdtResctrl",
	Default:    true,
	Kind:       Other,
	Summary:    "sets the shares of the last-level cache and of the memory bandwidth by QoS class",
	Decision:   "decision/nodeqos/resctrl",
	Docs:       "isolation.md#cache-and-memory-bandwidth",
	NodeSLO:    "resourceQOSStrategy",
	Configured: dividesCache,
	Settings:   Settings{Key: configuration.ResourceQOSConfigKey, Paths: classSettings("resctrlQOS.enable")},
}

func dividesCache(slo *slov1alpha1.NodeSLOSpec) (diagnosticsv1alpha1.FeatureState, string) {
	strategy := slo.ResourceQOSStrategy
	return anyClass(strategy, "resctrlQOS", func(class extension.QoSClass) bool { return resctrl.SwitchedOn(strategy, class) })
}
