package printer

import (
	"io"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
)

// placementViews are what is printed of pods that have no node.
func placementViews() map[string]view {
	return map[string]view{
		"placement":         func(w io.Writer, o Options) error { return PlacementForecast(w, placementFixture(), o) },
		"placement-full":    func(w io.Writer, o Options) error { return PlacementForecast(w, fullFixture(), o) },
		"placement-unknown": func(w io.Writer, o Options) error { return PlacementForecast(w, unplacedFixture(), o) },
	}
}

func placementFixture() *diagnosticsv1alpha1.PlacementForecast {
	return &diagnosticsv1alpha1.PlacementForecast{
		Verdict: diagnosticsv1alpha1.PlacementPartial, Message: "2 of 5 more pods of deployment shop/web get nodes: 1 on worker-1, 1 on worker-1-new-1; the next one is refused: 0/2 nodes are available",
		NewNodes: []diagnosticsv1alpha1.AddedNode{{Name: "worker-1-new-1", Like: "worker-1", Pods: 2}, {Name: "worker-1-new-2", Like: "worker-1"}},
		Waiting: []diagnosticsv1alpha1.WaitingPlacement{
			{PodPlacement: diagnosticsv1alpha1.PodPlacement{Namespace: "spark", Name: "job-1", Verdict: diagnosticsv1alpha1.PlacementNone, Summary: "0/2 nodes are available: 2 Insufficient batch-cpu."}},
			{PodPlacement: diagnosticsv1alpha1.PodPlacement{Namespace: "spark", Name: "held", Verdict: diagnosticsv1alpha1.PlacementGated, Summary: "gated: waiting for scheduling gates: [kueue]"}},
			{PodPlacement: diagnosticsv1alpha1.PodPlacement{Namespace: "spark", Name: "job-0", Verdict: diagnosticsv1alpha1.PlacementFound, Node: "worker-1-new-1", Summary: "1/2 nodes are available"}, NodeWithout: "worker-2"},
		},
		Copies: &diagnosticsv1alpha1.CopiesPlacement{
			Namespace: "shop", Like: "web-0", Verdict: diagnosticsv1alpha1.PlacementNone, Asked: 5, Placed: 2, Summary: "0/2 nodes are available",
			Nodes:  []diagnosticsv1alpha1.CopiesOnNode{{Name: "worker-1", Copies: 1}, {Name: "worker-1-new-1", Copies: 1}},
			Groups: []diagnosticsv1alpha1.RefusalGroup{{Count: 2, Code: "KOORD1201", Message: "Insufficient cpu (requested 4, free 2 on worker-1)"}},
		},
		Capacity: []diagnosticsv1alpha1.ForecastCapacity{
			{Resource: "cpu", Unit: diagnosticsv1alpha1.MilliCPU, Allocatable: 64000, Added: 64000, RequestedBefore: 32000, RequestedAfter: 40000},
			{Resource: "memory", Unit: diagnosticsv1alpha1.Bytes, Allocatable: 1 << 38, Added: 1 << 38, RequestedBefore: 1 << 36, RequestedAfter: 1 << 37},
		},
		Notes:    []string{"new pods are taken to be like pod web-0"},
		Findings: []diagnosticsv1alpha1.Finding{{Code: "KOORD0704", Severity: diagnosticsv1alpha1.SeverityError, Message: "3 more pods of deployment shop/web get no node"}},
	}
}

func fullFixture() *diagnosticsv1alpha1.PlacementForecast {
	return &diagnosticsv1alpha1.PlacementForecast{
		Verdict: diagnosticsv1alpha1.PlacementFull, Message: "no node takes another pod like pod shop/web-0: 0/2 nodes are available",
		Copies: &diagnosticsv1alpha1.CopiesPlacement{Namespace: "shop", Like: "web-0", Verdict: diagnosticsv1alpha1.PlacementNone, Asked: 200},
	}
}

func unplacedFixture() *diagnosticsv1alpha1.PlacementForecast {
	return &diagnosticsv1alpha1.PlacementForecast{Verdict: diagnosticsv1alpha1.PlacementUnknown, Message: "koord-scheduler could not be asked"}
}
