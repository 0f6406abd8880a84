package nodefeature

import (
	"koordinator.sh/koord/api/configuration"
	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/extension"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	"koordinator.sh/koord/decision/nodeqos/blkio"
)

// BlkIOReconcile bounds and weighs block I/O.
var BlkIOReconcile = Spec{
	Name:       "BlkIOReconcile",
	Kind:       Values,
	Summary:    "sets limits, weights and cost models of block devices for QoS classes, pods and their volumes",
	Decision:   "decision/nodeqos/blkio",
	Docs:       "node-settings.md#blkioreconcile",
	NodeSLO:    "resourceQOSStrategy",
	Configured: boundsBlockIO,
	Settings:   Settings{Key: configuration.ResourceQOSConfigKey, Paths: classSettings("blkioQOS.enable")},
}

func boundsBlockIO(slo *slov1alpha1.NodeSLOSpec) (diagnosticsv1alpha1.FeatureState, string) {
	strategy := slo.ResourceQOSStrategy
	if strategy != nil && blkio.SwitchedOn(strategy.CgroupRoot) {
		return diagnosticsv1alpha1.FeatureYes, "resourceQOSStrategy.cgroupRoot.blkioQOS is on"
	}
	return anyClass(strategy, "blkioQOS", func(class extension.QoSClass) bool { return blkio.SwitchedOn(strategy.OfClass(class)) })
}
