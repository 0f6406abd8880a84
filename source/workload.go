package source

import (
	"context"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/decision/noderesource/overview"
)

// KindWorkload stands for all controllers of pods, such as Deployments. It is a kind of answers, which no API serves.
var KindWorkload = Kind{
	Name: "workload", Plural: "workloads", Short: "wl", API: diagnosticsv1alpha1.GroupVersion.WithKind("Workload"), Namespaced: true,
}

// WorkloadQuery selects pods, and says by what they are put into rows; the zero value is all workloads.
type WorkloadQuery struct {
	// Namespace to select; empty for all.
	Namespace string
	// Names of workloads to show, with or without their kind; empty for all. A name that no workload has is an error with code KOORD0003.
	Names []string
	// LabelSelector of pods in the syntax of kubectl -l, and FieldSelector in that of kubectl --field-selector; empty for all.
	LabelSelector, FieldSelector string
	// Groups by which pods are put into rows; empty for workloads.
	Groups []overview.Group
}

// WorkloadLister is a source of workloads. Implementations are safe for concurrent use.
type WorkloadLister interface {
	// Workloads returns workloads with what their pods request and use, ordered by namespace and name. Only the pods are indispensable.
	Workloads(ctx context.Context, query WorkloadQuery) (*diagnosticsv1alpha1.WorkloadOverviewList, error)
}

// ExplainedWorkloads are the kinds of workloads that can be explained.
var ExplainedWorkloads = append([]Kind{KindDaemonSet}, WorkloadKinds...)

// WorkloadExplainer is a source that explains workloads. Implementations are safe for concurrent use.
type WorkloadExplainer interface {
	// ExplainWorkload says whether a workload of one of the ExplainedWorkloads has the pods that it wants. A name that does not exist is an error
	// with code KOORD0003.
	ExplainWorkload(ctx context.Context, kind Kind, namespace, name string) (*diagnosticsv1alpha1.WorkloadExplanation, error)
}
