package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// MigrationExplanation says how far a PodMigrationJob is and what it waits for: `koordctl explain migration`. Its name is that of the job.
//
// +kubebuilder:object:root=true
type MigrationExplanation struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Pod that the job moves.
	Pod MigratedPod `json:"pod"`
	// Mode is ReservationFirst or EvictDirectly.
	Mode string `json:"mode"`
	// Phase, Reason and Message are those of the job's status.
	Phase string `json:"phase"`
	// +optional
	Reason string `json:"reason,omitempty"`
	// +optional
	Message string `json:"message,omitempty"`
	// Paused is true when the job starts no further step.
	// +optional
	Paused bool `json:"paused,omitempty"`
	// Arbitration says whether the job may start.
	Arbitration MigrationArbitration `json:"arbitration"`
	// CreatedAt is when the job was created, and Deadline when it fails unless it has ended by then.
	CreatedAt metav1.Time `json:"createdAt"`
	Deadline  metav1.Time `json:"deadline"`
	// Reservation of the pod that replaces the evicted one; absent while there is none.
	// +optional
	Reservation string `json:"reservation,omitempty"`
	// TargetNode is the node of the Reservation.
	// +optional
	TargetNode string `json:"targetNode,omitempty"`
	// Replacement is the pod that uses the Reservation, as NAMESPACE/NAME.
	// +optional
	Replacement string `json:"replacement,omitempty"`
	// Summary is how far the job is, in one sentence.
	Summary string `json:"summary"`
	// Gates of the job, in order; absent for a job that has ended, and where what they depend on could not be read.
	// +optional
	Gates []MigrationGate `json:"gates,omitempty"`
	// Next is what koord-descheduler does next; absent where it is unknown.
	// +optional
	Next *MigrationStep `json:"next,omitempty"`
	// Conditions of the job's status.
	// +optional
	Conditions []MigrationCondition `json:"conditions,omitempty"`
	// OtherJobs counts the other jobs that have not ended; absent where they could not be read.
	// +optional
	OtherJobs *MigrationCount `json:"otherJobs,omitempty"`
	// Incomplete names what could not be read, and why; empty when the answer is whole.
	// +optional
	Incomplete []string `json:"incomplete,omitempty"`
}

// MigratedPod is the pod that a job moves.
type MigratedPod struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	// NodeName is the node that it runs on; absent when the pod is gone, not scheduled or could not be read.
	// +optional
	NodeName string `json:"nodeName,omitempty"`
}

// MigrationArbitration says whether the arbitrator let a job start.
type MigrationArbitration struct {
	Passed bool `json:"passed"`
	// Annotation of the job that says so.
	Annotation string `json:"annotation"`
}

// MigrationGateState is how far a job is at a gate.
//
// +kubebuilder:validation:Enum=Passed;Waiting;Closed;NotReached
type MigrationGateState string

const (
	// MigrationGatePassed is behind the job.
	MigrationGatePassed MigrationGateState = "Passed"
	// MigrationGateWaiting holds the job.
	MigrationGateWaiting MigrationGateState = "Waiting"
	// MigrationGateClosed ends the job.
	MigrationGateClosed MigrationGateState = "Closed"
	// MigrationGateNotReached is ahead of the job.
	MigrationGateNotReached MigrationGateState = "NotReached"
)

// MigrationGate is one thing that must be so before a job goes on.
type MigrationGate struct {
	Name  string             `json:"name"`
	State MigrationGateState `json:"state"`
	// Since is when the gate was passed, or since when the job waits at it; absent where that is not recorded.
	// +optional
	Since *metav1.Time `json:"since,omitempty"`
	// Deadline until which the job waits.
	// +optional
	Deadline *metav1.Time `json:"deadline,omitempty"`
	// RetryAt is when the job looks again before the deadline although nothing changed.
	// +optional
	RetryAt *metav1.Time `json:"retryAt,omitempty"`
	// +optional
	Reason string `json:"reason,omitempty"`
	// +optional
	Message string `json:"message,omitempty"`
	// Attempts of the eviction.
	// +optional
	Attempts int32 `json:"attempts,omitempty"`
}

// MigrationStep is what koord-descheduler does next about a job.
type MigrationStep struct {
	// Action is CreateReservation, EvictPod or DeleteReservation; absent where it only writes the status or waits.
	// +optional
	Action string `json:"action,omitempty"`
	// Message is the step in one sentence.
	Message string `json:"message"`
	// At is when the job is looked at again although nothing changed; absent when an action is due, and when nothing is left to do.
	// +optional
	At *metav1.Time `json:"at,omitempty"`
}

// MigrationCondition is a condition of a job's status.
type MigrationCondition struct {
	Type   string `json:"type"`
	Status string `json:"status"`
	// +optional
	Reason string `json:"reason,omitempty"`
	// +optional
	Message string `json:"message,omitempty"`
	// +optional
	LastTransitionTime *metav1.Time `json:"lastTransitionTime,omitempty"`
	// +optional
	Attempts int32 `json:"attempts,omitempty"`
}

// MigrationCount counts jobs that have not ended.
type MigrationCount struct {
	// Pending jobs wait for the arbitrator.
	Pending int32 `json:"pending"`
	// Running jobs have passed the arbitration.
	Running int32 `json:"running"`
}
