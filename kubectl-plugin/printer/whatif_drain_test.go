package printer

import (
	"io"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
)

// whatifViews are what is printed of changes that were not made.
func whatifViews() map[string]view {
	return map[string]view{
		"whatif-drain":      func(w io.Writer, o Options) error { return DrainForecast(w, drainFixture(), o) },
		"whatif-drain-wide": func(w io.Writer, o Options) error { o.Wide = true; return DrainForecast(w, drainFixture(), o) },
		"whatif-drain-empty": func(w io.Writer, o Options) error {
			return DrainForecast(w, &diagnosticsv1alpha1.DrainForecast{
				Verdict: diagnosticsv1alpha1.DrainCompletes, Message: "0 pods evicted", Command: "kubectl drain worker-9",
			}, o)
		},
	}
}

func drainFixture() *diagnosticsv1alpha1.DrainForecast {
	cpu := func(amount int64) []diagnosticsv1alpha1.ForecastAmount {
		return []diagnosticsv1alpha1.ForecastAmount{{Resource: "cpu", Amount: amount, Unit: diagnosticsv1alpha1.MilliCPU}}
	}
	pod := func(name string, place diagnosticsv1alpha1.DrainPlace, to string, round int32) diagnosticsv1alpha1.DrainedPod {
		return diagnosticsv1alpha1.DrainedPod{
			Namespace: "shop", Name: name, Node: "worker-1", Owner: "ReplicaSet/web", Requests: cpu(4000), Action: diagnosticsv1alpha1.DrainEvict,
			Place: place, To: to, Round: round,
		}
	}
	none, blocked, stays := pod("web-0", diagnosticsv1alpha1.DrainPlaceNone, "", 1), pod("web-1", diagnosticsv1alpha1.DrainPlaceFound, "worker-2", 0), pod("agent", "", "", 0)
	none.Summary, none.Budget = "0/2 nodes are available: 2 Insufficient cpu.", "web"
	blocked.Blocked, blocked.Budget = "PodDisruptionBudget web allows no more disruption", "web"
	stays.Action, stays.Flags, stays.Reason = diagnosticsv1alpha1.DrainSkip, []string{"--ignore-daemonsets"}, "DaemonSet agent runs it on every node"
	shell := pod("shell", diagnosticsv1alpha1.DrainPlaceLost, "", 1)
	shell.Owner, shell.Flags, shell.Reason = "", []string{"--force"}, "no controller creates it again"
	return &diagnosticsv1alpha1.DrainForecast{
		Verdict: diagnosticsv1alpha1.DrainBlocked, Message: "3 pods evicted; 1 pod gets no node; 1 pod is blocked by PodDisruptionBudgets", Rounds: 1,
		Command: "kubectl drain worker-1 --ignore-daemonsets --force", Nodes: []diagnosticsv1alpha1.DrainedNode{{Name: "worker-1", Pods: 5, Evicted: 3}},
		Pods: []diagnosticsv1alpha1.DrainedPod{
			none, blocked, pod("api-0", diagnosticsv1alpha1.DrainPlaceFound, "worker-2", 1), shell, pod("done", diagnosticsv1alpha1.DrainPlaceDone, "", 1),
			pod("foreign", diagnosticsv1alpha1.DrainPlaceUnknown, "", 1), stays,
		},
		Budgets: []diagnosticsv1alpha1.DrainBudget{
			{Namespace: "shop", Name: "web", DisruptionsAllowed: 1, CurrentHealthy: 3, DesiredHealthy: 2, ExpectedPods: 3, Pods: 2, Blocked: 1, Rounds: 1, Message: blocked.Blocked},
		},
		Targets: []diagnosticsv1alpha1.DrainTarget{
			{Name: "worker-2", PodsBefore: 3, PodsAfter: 4, Resources: []diagnosticsv1alpha1.DrainLoad{
				{Resource: "cpu", Unit: diagnosticsv1alpha1.MilliCPU, Allocatable: 8000, RequestedBefore: 4000, RequestedAfter: 8000, UsedBefore: new(int64(1200)), UsedAfter: new(int64(2400))},
				{Resource: "kubernetes.io/batch-cpu", Unit: diagnosticsv1alpha1.MilliCPU, RequestedAfter: 100},
			}},
			{Name: "worker-3", PodsBefore: 1, PodsAfter: 1},
		},
		Capacity:     []diagnosticsv1alpha1.DrainCapacity{{Resource: "cpu", Unit: diagnosticsv1alpha1.MilliCPU, Lost: 8000, ShareBasisPoints: 3333, Displaced: 9000, Free: 4000}},
		Gangs:        []diagnosticsv1alpha1.DrainGang{{Namespace: "shop", Name: "etl", Members: 3, Leaving: 1, Unplaced: 1, Message: "fewer than minMember 3 remain"}},
		Quotas:       []diagnosticsv1alpha1.DrainQuota{{Name: "team", Leaving: 2, Unplaced: 1, Requests: cpu(8000), Overused: []string{"cpu"}}},
		Reservations: []diagnosticsv1alpha1.DrainReservation{{Name: "held", Node: "worker-1", Leaving: 1, Reserved: cpu(2000)}},
		Notes:        []string{"replacements are taken to be like the pods that they replace"},
		Findings: []diagnosticsv1alpha1.Finding{{
			Code: "KOORD0701", Severity: diagnosticsv1alpha1.SeverityError, Message: "no other node takes pod shop/web-0", Hint: "koordctl explain pod web-0 -n shop",
		}},
	}
}
