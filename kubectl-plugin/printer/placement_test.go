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
		"placement-outlook": func(w io.Writer, o Options) error { return PlacementForecast(w, lastingFixture(), o) },
		"placement-outlook-wide": func(w io.Writer, o Options) error {
			o.Wide = true
			return PlacementForecast(w, lastingFixture(), o)
		},
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

// lastingFixture is of batch pods, of which some nodes keep fewer as the evening comes.
func lastingFixture() *diagnosticsv1alpha1.PlacementForecast {
	const batchCPU, batchMemory = "kubernetes.io/batch-cpu", "kubernetes.io/batch-memory"
	step := func(within *int64, copies, unpredicted int32, cpu, memory int64) diagnosticsv1alpha1.CopiesStep {
		return diagnosticsv1alpha1.CopiesStep{WithinSeconds: within, Copies: copies, Unpredicted: unpredicted, Free: []diagnosticsv1alpha1.FreeShare{
			{Resource: batchCPU, Unit: diagnosticsv1alpha1.MilliCPU, Amount: cpu}, {Resource: batchMemory, Unit: diagnosticsv1alpha1.Bytes, Amount: memory},
		}}
	}
	return &diagnosticsv1alpha1.PlacementForecast{
		Verdict: diagnosticsv1alpha1.PlacementFits, Message: "8 more pods like pod spark/executor-1 fit: 5 on worker-1, 2 on worker-2, 1 on worker-3",
		Copies: &diagnosticsv1alpha1.CopiesPlacement{
			Namespace: "spark", Like: "executor-1", Verdict: diagnosticsv1alpha1.PlacementNone, Asked: 200, Placed: 8,
			Nodes: []diagnosticsv1alpha1.CopiesOnNode{{Name: "worker-1", Copies: 5}, {Name: "worker-2", Copies: 2}, {Name: "worker-3", Copies: 1}},
		},
		Outlook: &diagnosticsv1alpha1.CopiesOutlook{
			Message: "2 of 8 keep what they request for the next 24h; the first may lose it after 5h; of 1 it is not predicted that far",
			Steps: []diagnosticsv1alpha1.CopiesStep{
				step(new(int64), 8, 0, 17500, 40<<30), step(new(int64(5*3600)), 7, 1, 15000, 38<<30), step(new(int64(24*3600)), 2, 1, 4200, 9<<30),
			},
			Nodes: []diagnosticsv1alpha1.CopiesOutlookNode{
				{Name: "worker-1", Copies: 5, Lasting: new(int32(1)), WithinSeconds: 24 * 3600, Predictor: "seasonal", Offers: []diagnosticsv1alpha1.OfferOutlook{{
					Resource: batchCPU, Note: "pods above batch use 58 cores at most in the next 24h by profile seasonal (same hours of 7 days), from 168h of history of 12 pods",
				}}},
				{Name: "worker-2", Copies: 2, Lasting: new(int32(1)), Predictor: "koordlet", Offers: []diagnosticsv1alpha1.OfferOutlook{{
					Resource: batchCPU, Note: "pods above batch use 20 cores at the peak of prod pods that koordlet learned; when it comes is not predicted",
				}}},
				{Name: "worker-3", Copies: 1, Problem: "the node does not exist yet"},
			},
		},
	}
}
