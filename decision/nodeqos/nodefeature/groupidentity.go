package nodefeature

import (
	corev1 "k8s.io/api/core/v1"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/extension"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	"koordinator.sh/koord/decision/nodeqos/groupidentity"
)

// GroupIdentity ranks pods on a CPU.
var GroupIdentity = Spec{
	Name:       "GroupIdentity",
	Default:    true,
	Kind:       Values,
	Summary:    "sets the CPU priority of pods: `cpu.bvt_warp_ns`, or `cpu.idle` for pods of the lowest priority where the kernel has no group identity",
	Decision:   "decision/nodeqos/groupidentity",
	Docs:       "node-agent.md#features",
	NodeSLO:    "resourceQOSStrategy",
	Configured: identifies,
}

func identifies(slo *slov1alpha1.NodeSLOSpec) (diagnosticsv1alpha1.FeatureState, string) {
	strategy := slo.ResourceQOSStrategy
	if groupidentity.OfGroup(strategy, corev1.PodQOSGuaranteed).Source == groupidentity.FromCoreScheduling {
		return diagnosticsv1alpha1.FeatureNo, "resourceQOSStrategy.policies.cpuPolicy is coreSched"
	}
	return anyClass(strategy, "cpuQOS", func(class extension.QoSClass) bool { return groupidentity.SwitchedOn(strategy, class) })
}
