package agentview

import (
	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	"koordinator.sh/koord/decision/core/unknown"
	decisionburst "koordinator.sh/koord/decision/nodeqos/burst"
	"koordinator.sh/koord/decision/nodeqos/eviction"
	"koordinator.sh/koord/decision/nodeqos/suppression"
	"koordinator.sh/koord/decision/nodeqos/sysctl"
)

// Configured says whether a NodeSLO asks for a feature, by the name of its gate, and what in it does. Features that are not known
// here are Unknown.
func Configured(feature string, slo *slov1alpha1.NodeSLOSpec) (diagnosticsv1alpha1.FeatureState, string) {
	if slo == nil {
		slo = &slov1alpha1.NodeSLOSpec{}
	}
	switch feature {
	case "CPUSetAllocator", "BatchResource", "CoreSched", "OOMScoreAdj", "GPUEnvInject", "RDMADeviceInject", "Resctrl":
		return diagnosticsv1alpha1.FeatureYes, "follows the labels, annotations and resources of pods"
	case "CPUNormalization":
		return diagnosticsv1alpha1.FeatureYes, "follows the annotation of the node"
	case "ResctrlCollector", "CPICollector", "PSICollector", "HugePageReport", "Accelerators", "RDMADevices":
		return diagnosticsv1alpha1.FeatureYes, "always measures and reports; the NodeSLO has no setting for it"
	case "TCNetworkQoS", "TerwayQoS":
		return networkPolicy(slo, feature)
	case "BECPUSuppress":
		return suppresses(slo.ResourceUsedThresholdWithBE)
	case "GroupIdentity", "CgroupReconcile", "BlkIOReconcile", "RdtResctrl":
		return classes(slo.ResourceQOSStrategy, feature)
	case "CPUBurst":
		return burst(slo)
	case "SystemConfig":
		return parameters(slo.SystemStrategy)
	}
	for _, evicting := range eviction.Features() {
		if string(evicting) == feature {
			return evicts(slo, evicting)
		}
	}
	return diagnosticsv1alpha1.FeatureUnknown, ""
}

// configured says whether the NodeSLO of the node asks for a feature. Where that could not be read, only a feature that follows
// no NodeSLO is known to be asked for.
func (n *Node) configured(feature string) (diagnosticsv1alpha1.FeatureState, string) {
	state, reason := Configured(feature, n.SLO)
	if why := n.Unknown.Because(unknown.NodeSLOs); why != "" && state != diagnosticsv1alpha1.FeatureYes {
		return diagnosticsv1alpha1.FeatureUnknown, why
	}
	return state, reason
}

func suppresses(strategy *slov1alpha1.ResourceThresholdStrategy) (diagnosticsv1alpha1.FeatureState, string) {
	if !suppression.Enabled(strategy) {
		return diagnosticsv1alpha1.FeatureNo, "resourceUsedThresholdWithBE.enable is not true"
	}
	return diagnosticsv1alpha1.FeatureYes, "resourceUsedThresholdWithBE.enable is true"
}

// evicts is for features that evict: the decision says what each needs.
func evicts(slo *slov1alpha1.NodeSLOSpec, feature eviction.Feature) (diagnosticsv1alpha1.FeatureState, string) {
	switch got := eviction.ConfigurationOf(feature, slo.ResourceUsedThresholdWithBE); got.State {
	case "":
		return diagnosticsv1alpha1.FeatureYes, "resourceUsedThresholdWithBE." + got.Reason
	case eviction.Off:
		return diagnosticsv1alpha1.FeatureNo, got.Reason
	default:
		return diagnosticsv1alpha1.FeatureNo, "resourceUsedThresholdWithBE." + got.Reason
	}
}

// parameters of the node are those that the decision comes to; how much memory the node has does not change which.
func parameters(strategy *slov1alpha1.SystemStrategy) (diagnosticsv1alpha1.FeatureState, string) {
	if strategy == nil {
		return diagnosticsv1alpha1.FeatureNo, "the NodeSLO has no systemStrategy"
	}
	if decided := sysctl.Of(strategy, 0); len(decided.Settings) == 0 && len(decided.Problems) == 0 {
		return diagnosticsv1alpha1.FeatureNo, "systemStrategy sets no parameter of the kernel"
	}
	return diagnosticsv1alpha1.FeatureYes, "systemStrategy"
}

func burst(slo *slov1alpha1.NodeSLOSpec) (diagnosticsv1alpha1.FeatureState, string) {
	var config *slov1alpha1.CPUBurstConfig
	if slo.CPUBurstStrategy != nil {
		config = &slo.CPUBurstStrategy.CPUBurstConfig
	}
	decided := decisionburst.ConfigOf(config, nil)
	state := diagnosticsv1alpha1.FeatureNo
	if decided.Bursts() {
		state = diagnosticsv1alpha1.FeatureYes
	}
	return state, "cpuBurstStrategy.policy is " + string(decided.Policy)
}
