package nodefeature

import (
	"koordinator.sh/koord/api/configuration"
	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/extension"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	"koordinator.sh/koord/decision/nodeqos/memoryqos"
)

// CgroupReconcile protects and bounds the memory of pods.
var CgroupReconcile = Spec{
	Name:       "CgroupReconcile",
	Kind:       Values,
	Summary:    "sets `memory.min`, `memory.low` and `memory.high`, watermarks and OOM settings, where the kernel supports them",
	Decision:   "decision/nodeqos/memoryqos",
	Docs:       "node-settings.md#cgroupreconcile-memory-near-the-limit",
	NodeSLO:    "resourceQOSStrategy",
	Configured: protectsMemory,
	Settings:   Settings{Key: configuration.ResourceQOSConfigKey, Paths: classSettings("memoryQOS.enable")},
}

func protectsMemory(slo *slov1alpha1.NodeSLOSpec) (diagnosticsv1alpha1.FeatureState, string) {
	strategy := slo.ResourceQOSStrategy
	return anyClass(strategy, "memoryQOS", func(class extension.QoSClass) bool {
		_, source := memoryqos.ClassSettings(strategy, class)
		return source == memoryqos.FromClass
	})
}
