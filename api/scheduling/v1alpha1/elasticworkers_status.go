package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// ElasticWorkersStatus is the size of the target, and why it is that.
//
// +kubebuilder:pruning:PreserveUnknownFields
type ElasticWorkersStatus struct {
	// ObservedGeneration of the spec that this was decided by.
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// UpdateTime is when it was decided.
	UpdateTime *metav1.Time `json:"updateTime,omitempty"`
	// CurrentReplicas is the size that the target was found with.
	CurrentReplicas int32 `json:"currentReplicas"`
	// DesiredReplicas is the size that it gets, once draining workers have finished.
	DesiredReplicas int32 `json:"desiredReplicas"`
	// LimitedBy is the term that determined the size.
	LimitedBy string `json:"limitedBy,omitempty"`
	// Message says in one sentence why the target has this size.
	Message string `json:"message,omitempty"`
	// WorkerRequests are what a worker was last seen to request.
	WorkerRequests corev1.ResourceList `json:"workerRequests,omitempty"`
	// Terms lead from what fits to the desired size.
	// +kubebuilder:validation:MaxItems=32
	Terms []ElasticWorkersTerm `json:"terms,omitempty"`
	// Nodes with the most room for workers, and those with workers, as far as there is space for them.
	// +kubebuilder:validation:MaxItems=20
	Nodes []ElasticWorkersNode `json:"nodes,omitempty"`
	// NodesOmitted counts nodes beyond these.
	NodesOmitted int32 `json:"nodesOmitted,omitempty"`
	// Next are the workers that go first if fewer are wanted.
	// +kubebuilder:validation:MaxItems=10
	Next []ElasticWorkersCandidate `json:"next,omitempty"`
	// Draining are the workers that finish their work.
	// +kubebuilder:validation:MaxItems=10000
	Draining []ElasticWorkersDraining `json:"draining,omitempty"`
	// Trend is the change that is wanted but not made yet.
	Trend *ElasticWorkersTrend `json:"trend,omitempty"`
	// LastScaleUpTime and LastScaleDownTime are the times of the last steps in each direction.
	LastScaleUpTime   *metav1.Time `json:"lastScaleUpTime,omitempty"`
	LastScaleDownTime *metav1.Time `json:"lastScaleDownTime,omitempty"`
	// Conditions of the object.
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// ElasticWorkersTerm is one step of the computation.
type ElasticWorkersTerm struct {
	// Name is the stable key of the term.
	Name string `json:"name"`
	// Operator says how the value enters: start, plus, minus, min, max, info or result.
	// +kubebuilder:validation:Enum=start;plus;minus;min;max;info;result
	Operator string `json:"operator"`
	// Value counts workers.
	Value int64 `json:"value"`
	// Note says what a reader cannot see from name and value.
	Note string `json:"note,omitempty"`
}

// ElasticWorkersNode is how many workers fit on a node, those that run there included.
type ElasticWorkersNode struct {
	Name string `json:"name"`
	// Workers that run there.
	Workers int32 `json:"workers"`
	// Now is how many fit in what the node offers now.
	Now int32 `json:"now"`
	// Later is how many fit in the least that it is predicted to offer within the horizon.
	Later int32 `json:"later"`
	// Note says why fewer fit than there is room for.
	Note string `json:"note,omitempty"`
}

// ElasticWorkersCandidate is a worker that goes first if fewer are wanted.
type ElasticWorkersCandidate struct {
	Name   string `json:"name"`
	Node   string `json:"node,omitempty"`
	Reason string `json:"reason"`
}

// ElasticWorkersDraining is a worker that finishes its work.
type ElasticWorkersDraining struct {
	Name string    `json:"name"`
	UID  types.UID `json:"uid"`
	Node string    `json:"node,omitempty"`
	// Since and Deadline bound the time that it has.
	Since    metav1.Time `json:"since"`
	Deadline metav1.Time `json:"deadline"`
	// Reason why it was chosen.
	Reason string `json:"reason,omitempty"`
	// Message is how far it is.
	Message string `json:"message,omitempty"`
}

// ElasticWorkersTrend is a change that is wanted without a break since a time.
type ElasticWorkersTrend struct {
	// Direction is Up or Down.
	// +kubebuilder:validation:Enum=Up;Down
	Direction string `json:"direction"`
	// Since when.
	Since metav1.Time `json:"since"`
	// Replicas is the most moderate number wanted since then.
	Replicas int32 `json:"replicas"`
}

const (
	// ElasticWorkersActive is the condition that is true while the target is sized.
	ElasticWorkersActive = "Active"
	// AnnotationWorkerDrain on a worker says since when, until when and why it drains.
	AnnotationWorkerDrain = "scheduling.koordinator.sh/worker-drain"
)
