package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// DrainForecast is what would happen if nodes were drained: `koordctl whatif drain`. No server answers it.
//
// +kubebuilder:object:root=true
type DrainForecast struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Verdict in one word.
	Verdict DrainVerdict `json:"verdict"`
	// Message is the answer in one sentence.
	Message string `json:"message"`
	// Command is kubectl drain with the flags that it needs.
	Command string `json:"command"`
	// Rounds in which kubectl drain evicts the pods: a pod of a later round waits until replacements of earlier ones are ready.
	Rounds int32 `json:"rounds"`
	// Nodes that are drained, ordered by name.
	Nodes []DrainedNode `json:"nodes"`
	// Pods of these nodes: those without a place first, then those that are blocked, the others in the order of their eviction, and
	// those that stay.
	Pods []DrainedPod `json:"pods"`
	// Budgets are the PodDisruptionBudgets of pods that are evicted, ordered by namespace and name.
	// +optional
	Budgets []DrainBudget `json:"budgets,omitempty"`
	// Targets are the other nodes with their requests and usage before and after, ordered by name. Where it is not known where pods go,
	// after is as before.
	// +optional
	Targets []DrainTarget `json:"targets,omitempty"`
	// Capacity that the drained nodes no longer offer, by resource.
	// +optional
	Capacity []DrainCapacity `json:"capacity,omitempty"`
	// Gangs, Quotas and Reservations of pods that leave.
	// +optional
	Gangs []DrainGang `json:"gangs,omitempty"`
	// +optional
	Quotas []DrainQuota `json:"quotas,omitempty"`
	// +optional
	Reservations []DrainReservation `json:"reservations,omitempty"`
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

// DrainVerdict is a drain in one word.
type DrainVerdict string

const (
	// DrainCompletes means that every pod that has to leave is evicted, and its replacement gets a node.
	DrainCompletes DrainVerdict = "Completes"
	// DrainUnplaced means that the drain completes, and no node takes the replacements of some pods.
	DrainUnplaced DrainVerdict = "Unplaced"
	// DrainBlocked means that PodDisruptionBudgets keep some pods on the node, so that kubectl drain does not end.
	DrainBlocked DrainVerdict = "Blocked"
	// DrainUnknown means that the drain completes as far as is known, which does not include where all pods go, or all PodDisruptionBudgets.
	DrainUnknown DrainVerdict = "Unknown"
)

// DrainedNode is a node that is drained.
type DrainedNode struct {
	Name string `json:"name"`
	// Unschedulable is true for a node that is cordoned already.
	// +optional
	Unschedulable bool `json:"unschedulable,omitempty"`
	// Pods on the node, Evicted of them.
	Pods    int32 `json:"pods"`
	Evicted int32 `json:"evicted"`
}

// DrainAction is what kubectl drain does with a pod.
type DrainAction string

const (
	// DrainEvict means that the pod is evicted.
	DrainEvict DrainAction = "Evict"
	// DrainSkip means that the pod stays.
	DrainSkip DrainAction = "Skip"
)

// DrainPlace says whether a pod that leaves comes back on another node.
type DrainPlace string

const (
	// DrainPlaceFound names the node.
	DrainPlaceFound DrainPlace = "Found"
	// DrainPlaceNone is about a pod that no other node takes.
	DrainPlaceNone DrainPlace = "None"
	// DrainPlaceLost is about a pod that no controller creates again.
	DrainPlaceLost DrainPlace = "Lost"
	// DrainPlaceDone is about a pod that ended or is being deleted, and needs no other node.
	DrainPlaceDone DrainPlace = "Done"
	// DrainPlaceUnknown is about a pod of which it is not known, such as one that another scheduler places.
	DrainPlaceUnknown DrainPlace = "Unknown"
)

// DrainedPod is a pod of a drained node.
type DrainedPod struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	// +optional
	UID  types.UID `json:"uid,omitempty"`
	Node string    `json:"node"`
	// Owner is the controller, such as ReplicaSet/web; empty without one.
	// +optional
	Owner string `json:"owner,omitempty"`
	// Priority of the pod.
	Priority int32 `json:"priority"`
	// Requests of the pod.
	// +optional
	Requests []ForecastAmount `json:"requests,omitempty"`
	// Action of kubectl drain.
	Action DrainAction `json:"action"`
	// Flags without which kubectl drain refuses to start because of this pod, and Reason why, or why the pod stays.
	// +optional
	Flags []string `json:"flags,omitempty"`
	// +optional
	Reason string `json:"reason,omitempty"`
	// Round of the eviction from 1; 0 for a pod that stays or is blocked.
	// +optional
	Round int32 `json:"round,omitempty"`
	// Budget that covers the pod, and Blocked why the pod is not evicted.
	// +optional
	Budget string `json:"budget,omitempty"`
	// +optional
	Blocked string `json:"blocked,omitempty"`
	// Place of the replacement; absent for a pod that stays.
	// +optional
	Place DrainPlace `json:"place,omitempty"`
	// To is the node of the replacement.
	// +optional
	To string `json:"to,omitempty"`
	// Summary says why that node, or why none, as the scheduler's events do; Groups are the reasons.
	// +optional
	Summary string `json:"summary,omitempty"`
	// +optional
	Groups []RefusalGroup `json:"groups,omitempty"`
}

// DrainBudget is a PodDisruptionBudget of pods that are evicted.
type DrainBudget struct {
	Namespace          string `json:"namespace"`
	Name               string `json:"name"`
	DisruptionsAllowed int32  `json:"disruptionsAllowed"`
	CurrentHealthy     int32  `json:"currentHealthy"`
	DesiredHealthy     int32  `json:"desiredHealthy"`
	ExpectedPods       int32  `json:"expectedPods"`
	// Pods that leave under the budget, Blocked of them not at all, and Rounds that it takes.
	Pods    int32 `json:"pods"`
	Blocked int32 `json:"blocked"`
	Rounds  int32 `json:"rounds"`
	// Message says what the pods wait for, and until when.
	Message string `json:"message"`
}

// DrainTarget is another node.
type DrainTarget struct {
	Name string `json:"name"`
	// PodsBefore and PodsAfter are its pods that have not ended.
	PodsBefore int32 `json:"podsBefore"`
	PodsAfter  int32 `json:"podsAfter"`
	// Resources that are requested or used.
	// +optional
	Resources []DrainLoad `json:"resources,omitempty"`
}

// DrainLoad is one resource of a node before and after.
type DrainLoad struct {
	Resource        string `json:"resource"`
	Unit            Unit   `json:"unit"`
	Allocatable     int64  `json:"allocatable"`
	RequestedBefore int64  `json:"requestedBefore"`
	RequestedAfter  int64  `json:"requestedAfter"`
	// UsedBefore is the measured usage of the node, and UsedAfter that with the usage of the pods that move; absent where it is not known.
	// +optional
	UsedBefore *int64 `json:"usedBefore,omitempty"`
	// +optional
	UsedAfter *int64 `json:"usedAfter,omitempty"`
}

// DrainCapacity is one resource of the drained nodes.
type DrainCapacity struct {
	Resource string `json:"resource"`
	Unit     Unit   `json:"unit"`
	// Lost is what the drained nodes offer, and Share that in hundredths of a percent of what the cluster offers.
	Lost             int64 `json:"lost"`
	ShareBasisPoints int64 `json:"shareBasisPoints"`
	// Displaced is requested by the pods that leave and come back, and Free what other nodes that take pods have unrequested.
	Displaced int64 `json:"displaced"`
	Free      int64 `json:"free"`
}

// DrainGang is a gang with members that leave.
type DrainGang struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	// Members that run, Leaving of them, and Unplaced of those.
	Members  int32 `json:"members"`
	Leaving  int32 `json:"leaving"`
	Unplaced int32 `json:"unplaced"`
	// MinMember of the gang; absent where it is not known.
	// +optional
	MinMember *int32 `json:"minMember,omitempty"`
	// Message says what it means for the gang.
	Message string `json:"message"`
}

// DrainQuota is an ElasticQuota with pods that leave.
type DrainQuota struct {
	Name string `json:"name"`
	// Leaving are its pods that leave, Unplaced of them.
	Leaving  int32 `json:"leaving"`
	Unplaced int32 `json:"unplaced"`
	// Requests of these pods.
	// +optional
	Requests []ForecastAmount `json:"requests,omitempty"`
	// Overused are the resources of which the quota uses more than its runtime, so that replacements may wait.
	// +optional
	Overused []string `json:"overused,omitempty"`
}

// DrainReservation is a Reservation on a drained node.
type DrainReservation struct {
	Name string `json:"name"`
	Node string `json:"node"`
	// Leaving are the pods that hold parts of it and leave.
	Leaving int32 `json:"leaving"`
	// Reserved is what it reserves.
	// +optional
	Reserved []ForecastAmount `json:"reserved,omitempty"`
}
