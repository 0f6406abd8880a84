package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// PlacementForecast is where pods that have no node would get one: `koordctl whatif scale`, `whatif add-nodes`, `whatif config` and `forecast capacity`. No
// server answers it.
//
// +kubebuilder:object:root=true
type PlacementForecast struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Verdict in one word.
	Verdict PlacementForecastVerdict `json:"verdict"`
	// Message is the answer in one sentence.
	Message string `json:"message"`
	// Workload whose pods are copied; absent where a pod is named, or none.
	// +optional
	Workload *ForecastWorkload `json:"workload,omitempty"`
	// NewNodes that are added.
	// +optional
	NewNodes []AddedNode `json:"newNodes,omitempty"`
	// Offers counts the nodes that offer something else than they do now.
	// +optional
	Offers int32 `json:"offers,omitempty"`
	// Waiting pods, those that get no node first, then in the order of the scheduler's queue.
	// +optional
	Waiting []WaitingPlacement `json:"waiting,omitempty"`
	// Copies of one pod.
	// +optional
	Copies *CopiesPlacement `json:"copies,omitempty"`
	// Outlook says for how long the copies keep the batch or mid resources that they request; absent where they request none, and where
	// no copy gets a node.
	// +optional
	Outlook *CopiesOutlook `json:"outlook,omitempty"`
	// Capacity of the cluster, by the resources that the placed pods request, and cpu and memory.
	// +optional
	Capacity []ForecastCapacity `json:"capacity,omitempty"`
	// Notes say what the forecast assumes.
	// +optional
	Notes []string `json:"notes,omitempty"`
	// Findings that --fail-on counts.
	// +optional
	Findings []Finding `json:"findings,omitempty"`
	// Incomplete names what could not be read or asked, and why; empty when the forecast is whole.
	// +optional
	Incomplete []string `json:"incomplete,omitempty"`
}

// PlacementForecastVerdict is a forecast in one word.
type PlacementForecastVerdict string

const (
	// PlacementFits means that every pod gets a node.
	PlacementFits PlacementForecastVerdict = "Fits"
	// PlacementPartial means that some pods get a node.
	PlacementPartial PlacementForecastVerdict = "Partial"
	// PlacementFull means that no pod gets a node.
	PlacementFull PlacementForecastVerdict = "Full"
	// PlacementUnknown means that the scheduler could not be asked, or does not place the pods.
	PlacementUnknown PlacementForecastVerdict = "Unknown"
)

// ForecastWorkload is a workload that is scaled, or whose pods are counted.
type ForecastWorkload struct {
	Kind      string `json:"kind"`
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	// Replicas that it asks for now, and Wanted ones; absent where the question is how many fit.
	Replicas int32 `json:"replicas"`
	// +optional
	Wanted *int32 `json:"wanted,omitempty"`
}

// AddedNode is a node that is added.
type AddedNode struct {
	Name string `json:"name"`
	// Like is the node whose labels, taints and resources it has.
	Like string `json:"like"`
	// Pods that it gets of those that were placed.
	Pods int32 `json:"pods"`
}

// WaitingPlacement is the node that a waiting pod would get.
type WaitingPlacement struct {
	PodPlacement `json:",inline"`
	// NodeWithout is the node that it would get without the new nodes or offers; empty for none.
	// +optional
	NodeWithout string `json:"nodeWithout,omitempty"`
}

// ForecastCapacity is one resource of the cluster.
type ForecastCapacity struct {
	Resource string `json:"resource"`
	Unit     Unit   `json:"unit"`
	// Allocatable of all nodes now, and Added by the new ones and by what nodes offer otherwise; negative where they offer less.
	Allocatable int64 `json:"allocatable"`
	Added       int64 `json:"added"`
	// RequestedBefore is requested of it now, and RequestedAfter also by the pods that get a node.
	RequestedBefore int64 `json:"requestedBefore"`
	RequestedAfter  int64 `json:"requestedAfter"`
}
