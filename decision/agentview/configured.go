package agentview

import (
	"fmt"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	"koordinator.sh/koord/decision/eviction"
	"koordinator.sh/koord/decision/networkqos"
	"koordinator.sh/koord/decision/unknown"
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
		return diagnosticsv1alpha1.FeatureYes, "measures and reports, whatever the NodeSLO says"
	case "TCNetworkQoS", "TerwayQoS":
		return networkPolicy(slo, feature)
	case "BECPUSuppress":
		return threshold(slo, "")
	case "GroupIdentity":
		return anyClass(slo, "cpuQOS", func(q *slov1alpha1.ResourceQOS) *bool {
			if q.CPUQOS == nil {
				return nil
			}
			return q.CPUQOS.Enable
		})
	case "CgroupReconcile":
		return anyClass(slo, "memoryQOS", func(q *slov1alpha1.ResourceQOS) *bool {
			if q.MemoryQOS == nil {
				return nil
			}
			return q.MemoryQOS.Enable
		})
	case "BlkIOReconcile":
		return anyClass(slo, "blkioQOS", func(q *slov1alpha1.ResourceQOS) *bool {
			if q.BlkIOQOS == nil {
				return nil
			}
			return q.BlkIOQOS.Enable
		})
	case "RdtResctrl":
		return anyClass(slo, "resctrlQOS", func(q *slov1alpha1.ResourceQOS) *bool {
			if q.ResctrlQOS == nil {
				return nil
			}
			return q.ResctrlQOS.Enable
		})
	case "CPUBurst":
		return burst(slo)
	case "SystemConfig":
		if slo.SystemStrategy == nil {
			return diagnosticsv1alpha1.FeatureNo, "the NodeSLO has no systemStrategy"
		}
		return diagnosticsv1alpha1.FeatureYes, "systemStrategy"
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

// threshold is for features that resource-threshold-config switches on.
func threshold(slo *slov1alpha1.NodeSLOSpec, what string) (diagnosticsv1alpha1.FeatureState, string) {
	strategy := slo.ResourceUsedThresholdWithBE
	if strategy == nil || strategy.Enable == nil || !*strategy.Enable {
		return diagnosticsv1alpha1.FeatureNo, "resourceUsedThresholdWithBE.enable is not true"
	}
	if what != "" {
		return diagnosticsv1alpha1.FeatureNo, "resourceUsedThresholdWithBE." + what + " is not set"
	}
	return diagnosticsv1alpha1.FeatureYes, "resourceUsedThresholdWithBE.enable is true"
}

// evicts is for features that evict: each has a setting without which it does nothing.
func evicts(slo *slov1alpha1.NodeSLOSpec, feature eviction.Feature) (diagnosticsv1alpha1.FeatureState, string) {
	strategy := slo.ResourceUsedThresholdWithBE
	if strategy == nil {
		return threshold(slo, "")
	}
	needs := map[eviction.Feature]struct {
		name  string
		value *int64
	}{
		eviction.BECPUEvict:             {"cpuEvictBESatisfactionLowerPercent", strategy.CPUEvictBESatisfactionLowerPercent},
		eviction.CPUAllocatableEvict:    {"cpuAllocatableEvictThresholdPercent", strategy.CPUAllocatableEvictThresholdPercent},
		eviction.CPUEvict:               {"cpuEvictThresholdPercent", strategy.CPUEvictThresholdPercent},
		eviction.BEMemoryEvict:          {"memoryEvictThresholdPercent", strategy.MemoryEvictThresholdPercent},
		eviction.MemoryAllocatableEvict: {"memoryAllocatableEvictThresholdPercent", strategy.MemoryAllocatableEvictThresholdPercent},
		eviction.MemoryEvict:            {"memoryEvictThresholdPercent", strategy.MemoryEvictThresholdPercent},
	}[feature]
	if needs.value == nil {
		return threshold(slo, needs.name)
	}
	state, reason := threshold(slo, "")
	if state == diagnosticsv1alpha1.FeatureYes {
		reason = fmt.Sprintf("resourceUsedThresholdWithBE.%s is %d", needs.name, *needs.value)
	}
	return state, reason
}

// anyClass is for features that the settings of a QoS class switch on.
func anyClass(slo *slov1alpha1.NodeSLOSpec, name string, enabled func(*slov1alpha1.ResourceQOS) *bool) (diagnosticsv1alpha1.FeatureState, string) {
	strategy := slo.ResourceQOSStrategy
	if strategy == nil {
		return diagnosticsv1alpha1.FeatureNo, "the NodeSLO has no resourceQOSStrategy"
	}
	for _, class := range []struct {
		name string
		qos  *slov1alpha1.ResourceQOS
	}{
		{"lsrClass", strategy.LSRClass}, {"lsClass", strategy.LSClass}, {"beClass", strategy.BEClass}, {"systemClass", strategy.SystemClass},
		{"cgroupRoot", strategy.CgroupRoot},
	} {
		if class.qos == nil {
			continue
		}
		if on := enabled(class.qos); on != nil && *on {
			return diagnosticsv1alpha1.FeatureYes, "resourceQOSStrategy." + class.name + "." + name + " is on"
		}
	}
	return diagnosticsv1alpha1.FeatureNo, "resourceQOSStrategy has " + name + " on for no class"
}

func burst(slo *slov1alpha1.NodeSLOSpec) (diagnosticsv1alpha1.FeatureState, string) {
	if slo.CPUBurstStrategy == nil || slo.CPUBurstStrategy.Policy == "" || slo.CPUBurstStrategy.Policy == slov1alpha1.CPUBurstNone {
		return diagnosticsv1alpha1.FeatureNo, "cpuBurstStrategy.policy is none"
	}
	return diagnosticsv1alpha1.FeatureYes, "cpuBurstStrategy.policy is " + string(slo.CPUBurstStrategy.Policy)
}

// networkPolicy is for the two features that divide the network, of which the configuration chooses one.
func networkPolicy(slo *slov1alpha1.NodeSLOSpec, feature string) (diagnosticsv1alpha1.FeatureState, string) {
	wanted := map[string]slov1alpha1.NETQOSPolicy{"TCNetworkQoS": slov1alpha1.NETQOSPolicyTC, "TerwayQoS": slov1alpha1.NETQOSPolicyTerwayQos}[feature]
	if policy := networkqos.PolicyOf(slo.ResourceQOSStrategy); policy != wanted {
		return diagnosticsv1alpha1.FeatureNo, "resourceQOSStrategy.policies.netQOSPolicy is " + string(policy)
	}
	return anyClass(slo, "networkQOS", func(q *slov1alpha1.ResourceQOS) *bool {
		if q.NetworkQOS == nil {
			return nil
		}
		return q.NetworkQOS.Enable
	})
}
