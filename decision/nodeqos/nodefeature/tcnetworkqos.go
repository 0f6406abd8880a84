package nodefeature

import (
	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/extension"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	"koordinator.sh/koord/decision/nodeqos/networkqos"
)

// TCNetworkQoS divides what the node sends by class.
var TCNetworkQoS = Spec{
	Name:       "TCNetworkQoS",
	Kind:       Values,
	Summary:    "divides the egress bandwidth of the node by QoS class",
	Decision:   "decision/nodeqos/networkqos",
	Docs:       "isolation.md#network",
	NodeSLO:    "resourceQOSStrategy",
	Configured: queuesNetwork,
}

func queuesNetwork(slo *slov1alpha1.NodeSLOSpec) (diagnosticsv1alpha1.FeatureState, string) {
	strategy := slo.ResourceQOSStrategy
	if policy := networkqos.PolicyOf(strategy); policy != slov1alpha1.NETQOSPolicyTC {
		return diagnosticsv1alpha1.FeatureNo, "resourceQOSStrategy.policies.netQOSPolicy is " + string(policy)
	}
	return anyClass(strategy, "networkQOS", func(class extension.QoSClass) bool { return networkqos.SwitchedOn(strategy, class) })
}
