package printer

import (
	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
)

func evictionFixture() *diagnosticsv1alpha1.EvictionExplanation {
	e := &diagnosticsv1alpha1.EvictionExplanation{
		NodeName: "worker-1", Message: "pod on node worker-1: can be evicted now by agent; possible by kubelet; unknown for quota; protected from drain",
		Evictors: []diagnosticsv1alpha1.PodEvictor{
			{Name: "agent", State: "now", Unknown: []string{"the feature gates of koordlet are unknown and taken to be the defaults"}},
			{Name: "kubelet", State: "possible", IgnoresBudgets: true, Needs: []string{"node worker-1 must be under memory, disk or PID pressure"}},
			{Name: "quota", State: "unknown", Unknown: []string{"the quota of the pod is unknown"}},
			{Name: "drain", State: "protected", Needs: []string{"somebody must drain the node"}, Protections: []string{"PodDisruptionBudget web allows no disruption: it needs 3 healthy pods and has 3"}},
		},
		Budgets: []diagnosticsv1alpha1.PodBudget{{Name: "web", CurrentHealthy: 3, DesiredHealthy: 3}, {Name: "all", DisruptionsAllowed: 1, CurrentHealthy: 4, DesiredHealthy: 3}},
	}
	e.Namespace, e.Name = "shop", "web-0"
	return e
}
