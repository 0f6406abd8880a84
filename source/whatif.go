package source

import (
	"context"

	appsv1 "k8s.io/api/apps/v1"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
)

// DrainQuery selects the nodes to drain.
type DrainQuery struct {
	// Names of nodes. A name that does not exist is an error with code KOORD0003.
	Names []string
	// LabelSelector in the syntax of kubectl -l, where there are no names. One that selects no node gives an answer without nodes.
	LabelSelector string
}

// DrainForecaster is a source that says what draining nodes does. Implementations are safe for concurrent use.
type DrainForecaster interface {
	// ForecastDrain says which pods leave, when PodDisruptionBudgets let them go, and which nodes they get. Only the nodes and the pods are
	// indispensable: without the scheduler, where pods go is unknown.
	ForecastDrain(ctx context.Context, query DrainQuery) (*diagnosticsv1alpha1.DrainForecast, error)
}

// PlacementQuery asks where pods that have no node would get one. Either Copied has a name, or Waiting is true, or both.
type PlacementQuery struct {
	// Offers are what nodes have allocatable in the place of what they have. A node that does not exist is an error with code KOORD0003.
	Offers []diagnosticsv1alpha1.PlacementReviewOffer
	// NewNodes join the cluster first. A node that they are like and that does not exist is an error with code KOORD0003.
	NewNodes []diagnosticsv1alpha1.PlacementReviewNodes
	// Waiting places the pods that wait for a node.
	Waiting bool
	// Copied is the pod or workload whose pods are copied.
	Copied CopiedPods
}

// CopiedPods are pods that do not exist yet, like those of a pod or workload that does.
type CopiedPods struct {
	// Kind is one of CopiedKinds.
	Kind            Kind
	Namespace, Name string
	// Replicas that the workload is scaled to; 0 to count how many fit, up to Most.
	Replicas, Most int32
}

// DefaultMost is how many copies are counted where nobody asks for more or fewer.
const DefaultMost = 200

// CopiedKinds are the kinds of objects whose pods can be copied, a Pod and the workloads.
var CopiedKinds = append([]Kind{KindPod}, WorkloadKinds...)

// WorkloadKinds are the workloads that can be scaled.
var WorkloadKinds = []Kind{
	{Name: "deployment", Plural: "deployments", Short: "deploy", API: appsv1.SchemeGroupVersion.WithKind("Deployment"), Namespaced: true},
	{Name: "statefulset", Plural: "statefulsets", Short: "sts", API: appsv1.SchemeGroupVersion.WithKind("StatefulSet"), Namespaced: true},
	{Name: "replicaset", Plural: "replicasets", Short: "rs", API: appsv1.SchemeGroupVersion.WithKind("ReplicaSet"), Namespaced: true},
}

// PlacementForecaster is a source that says where pods would get nodes. Implementations are safe for concurrent use.
type PlacementForecaster interface {
	// ForecastPlacement asks the scheduler, by all of its plugins. Without the scheduler the answer is unknown. A workload that has no pod to
	// copy is an error.
	ForecastPlacement(ctx context.Context, query PlacementQuery) (*diagnosticsv1alpha1.PlacementForecast, error)
}
