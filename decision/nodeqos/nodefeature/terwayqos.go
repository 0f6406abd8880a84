package nodefeature

import (
	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	"koordinator.sh/koord/decision/nodeqos/networkqos"
)

// TerwayQoS has Terway divide the network. Terway is configured as soon as its policy is chosen.
var TerwayQoS = Spec{
	Name:       "TerwayQoS",
	Kind:       Other,
	Summary:    "writes the bandwidth settings of QoS classes and pods to the files that Terway reads",
	Decision:   "decision/nodeqos/networkqos",
	Docs:       "isolation.md#network",
	NodeSLO:    "resourceQOSStrategy",
	Configured: configuresTerway,
}

func configuresTerway(slo *slov1alpha1.NodeSLOSpec) (diagnosticsv1alpha1.FeatureState, string) {
	policy := networkqos.PolicyOf(slo.ResourceQOSStrategy)
	state := diagnosticsv1alpha1.FeatureNo
	if policy == slov1alpha1.NETQOSPolicyTerwayQos {
		state = diagnosticsv1alpha1.FeatureYes
	}
	return state, "resourceQOSStrategy.policies.netQOSPolicy is " + string(policy)
}
