package agentview

import (
	corev1 "k8s.io/api/core/v1"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/extension"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	"koordinator.sh/koord/decision/nodeqos/blkio"
	"koordinator.sh/koord/decision/nodeqos/groupidentity"
	"koordinator.sh/koord/decision/nodeqos/memoryqos"
	"koordinator.sh/koord/decision/nodeqos/networkqos"
	"koordinator.sh/koord/decision/nodeqos/resctrl"
)

// ofClasses are the classes of a NodeSLO in its order, and what their settings are called.
var ofClasses = []struct {
	class extension.QoSClass
	name  string
}{{extension.QoSLSR, "lsrClass"}, {extension.QoSLS, "lsClass"}, {extension.QoSBE, "beClass"}, {extension.QoSSystem, "systemClass"}}

// classes is for features that the settings of a QoS class switch on. Which classes a feature follows is its decision's to say.
func classes(strategy *slov1alpha1.ResourceQOSStrategy, feature string) (diagnosticsv1alpha1.FeatureState, string) {
	switch feature {
	case "GroupIdentity":
		if groupidentity.OfGroup(strategy, corev1.PodQOSGuaranteed).Source == groupidentity.FromCoreScheduling {
			return diagnosticsv1alpha1.FeatureNo, "resourceQOSStrategy.policies.cpuPolicy is coreSched"
		}
		return anyClass(strategy, "cpuQOS", func(class extension.QoSClass) bool { return groupidentity.SwitchedOn(strategy, class) })
	case "CgroupReconcile":
		return anyClass(strategy, "memoryQOS", func(class extension.QoSClass) bool {
			_, source := memoryqos.ClassSettings(strategy, class)
			return source == memoryqos.FromClass
		})
	case "BlkIOReconcile":
		if strategy != nil && blkio.SwitchedOn(strategy.CgroupRoot) {
			return diagnosticsv1alpha1.FeatureYes, "resourceQOSStrategy.cgroupRoot.blkioQOS is on"
		}
		return anyClass(strategy, "blkioQOS", func(class extension.QoSClass) bool { return blkio.SwitchedOn(strategy.OfClass(class)) })
	}
	return anyClass(strategy, "resctrlQOS", func(class extension.QoSClass) bool { return resctrl.SwitchedOn(strategy, class) })
}

func anyClass(strategy *slov1alpha1.ResourceQOSStrategy, setting string, on func(extension.QoSClass) bool) (diagnosticsv1alpha1.FeatureState, string) {
	if strategy == nil {
		return diagnosticsv1alpha1.FeatureNo, "the NodeSLO has no resourceQOSStrategy"
	}
	for _, of := range ofClasses {
		if on(of.class) {
			return diagnosticsv1alpha1.FeatureYes, "resourceQOSStrategy." + of.name + "." + setting + " is on"
		}
	}
	return diagnosticsv1alpha1.FeatureNo, "resourceQOSStrategy has " + setting + " enabled for none of the classes it applies to"
}

// networkPolicy is for the two features that divide the network, of which the configuration chooses one. Terway is told of the node
// and its pods as soon as it is chosen.
func networkPolicy(slo *slov1alpha1.NodeSLOSpec, feature string) (diagnosticsv1alpha1.FeatureState, string) {
	strategy := slo.ResourceQOSStrategy
	wanted := map[string]slov1alpha1.NETQOSPolicy{"TCNetworkQoS": slov1alpha1.NETQOSPolicyTC, "TerwayQoS": slov1alpha1.NETQOSPolicyTerwayQos}[feature]
	policy := networkqos.PolicyOf(strategy)
	chosen := "resourceQOSStrategy.policies.netQOSPolicy is " + string(policy)
	switch {
	case policy != wanted:
		return diagnosticsv1alpha1.FeatureNo, chosen
	case policy == slov1alpha1.NETQOSPolicyTerwayQos:
		return diagnosticsv1alpha1.FeatureYes, chosen
	}
	return anyClass(strategy, "networkQOS", func(class extension.QoSClass) bool { return networkqos.SwitchedOn(strategy, class) })
}
