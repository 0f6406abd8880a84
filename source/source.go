package source

import (
	"context"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
)

// Source answers the workbench's questions. Implementations are safe for concurrent use.
//
// An answer that could be given only in part is an answer: its Incomplete says what is missing and why. An error means
// that nothing could be said, and is a *finding.Error where the user can act on it.
type Source interface {
	// Describe says which cluster the answers are about. The parts that need no connection are filled in also when
	// an error is returned.
	Describe(ctx context.Context) (Cluster, error)
	// Nodes returns the nodes as co-location sees them, ordered by name.
	Nodes(ctx context.Context, query NodeQuery) (*diagnosticsv1alpha1.NodeOverviewList, error)
	// Pods returns the pods as co-location sees them, ordered by namespace and name.
	Pods(ctx context.Context, query PodQuery) (*diagnosticsv1alpha1.PodOverviewList, error)
	// ExplainNode says where the node's batch and mid resources come from. The spec's node name is set from name.
	ExplainNode(ctx context.Context, name string, spec diagnosticsv1alpha1.NodeExplanationSpec) (*diagnosticsv1alpha1.NodeExplanation, error)
	// ExplainPod says why the pod is pending, or why it runs where it runs. The spec's pod name is set from name,
	// unless it has the name of a Reservation, which is then what is explained; an answer to that always comes from the scheduler.
	ExplainPod(ctx context.Context, namespace, name string, spec diagnosticsv1alpha1.PodExplanationSpec) (*diagnosticsv1alpha1.PodExplanation, error)
	// Names lists the names of one kind of object for completion and suggestions, at most limit of them, sorted. The
	// namespace is ignored for kinds without one.
	Names(ctx context.Context, kind Kind, namespace string, limit int) ([]string, error)
}

// Cluster says where answers come from.
type Cluster struct {
	// Context of the kubeconfig; empty in a pod.
	Context string
	// Name of the cluster in the kubeconfig.
	Name string
	// User of the kubeconfig, or the one impersonated.
	User string
	// Server is the API server's URL.
	Server string
	// Namespace that applies when none is named.
	Namespace string
	// ServerVersion of Kubernetes, such as v1.36.3; empty when the server did not answer.
	ServerVersion string
}

// NodeQuery selects nodes; the zero value selects all.
type NodeQuery struct {
	// Names to select; empty for all. A name that does not exist is an error with code KOORD0003.
	Names []string
	// LabelSelector in the syntax of kubectl -l; empty for all.
	LabelSelector string
	// FieldSelector in the syntax of kubectl --field-selector; empty for all.
	FieldSelector string
	// Operands asks for what the load of each node was judged by, which is three quarters of an answer.
	Operands bool
	// Balance asks for how koord-descheduler judges each node, for which its configuration is read too.
	Balance bool
}

// PodQuery selects pods; the zero value selects those of all namespaces.
type PodQuery struct {
	// Namespace to select; empty for all.
	Namespace string
	// Names to select; empty for all. A name that does not exist is an error with code KOORD0003.
	Names []string
	// LabelSelector in the syntax of kubectl -l; empty for all.
	LabelSelector string
	// FieldSelector in the syntax of kubectl --field-selector; empty for all.
	FieldSelector string
	// NodeName selects the pods bound to one node; empty for all.
	NodeName string
	// NoUse leaves out what the pods use, for which the NodeMetrics of all nodes are read.
	NoUse bool
}
