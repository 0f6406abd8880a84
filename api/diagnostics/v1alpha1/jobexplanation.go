package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// JobExplanation says what keeps a Job from running, and who: `koordctl explain job`.
//
// +kubebuilder:object:root=true
type JobExplanation struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// State in one word.
	State JobState `json:"state"`
	// HeldBy is what keeps pods of the Job from running: Kueue, ElasticQuota, PodGroup, or koord-scheduler where no node takes them; empty where
	// none waits, or for another reason.
	// +optional
	HeldBy string `json:"heldBy,omitempty"`
	// Summary is the state and its reason in one sentence.
	Summary string `json:"summary"`
	// Code of the reason; empty where nothing waits.
	// +optional
	Code string `json:"code,omitempty"`
	// Pods counts the pods of the Job.
	Pods JobPods `json:"pods"`
	// Queue is where Kueue has the Job; absent for a Job that it does not manage.
	// +optional
	Queue *JobQueue `json:"queue,omitempty"`
	// WaitingPod is the pod without a node whose explanation the summary has.
	// +optional
	WaitingPod string `json:"waitingPod,omitempty"`
	// Findings noticed on the way.
	// +optional
	Findings []Finding `json:"findings,omitempty"`
	// Incomplete names what could not be seen, and why; empty when the answer is whole.
	// +optional
	Incomplete []string `json:"incomplete,omitempty"`
}

// JobState is how far a Job is, in one word.
type JobState string

const (
	// JobSuspended means that spec.suspend of the Job is true, so that it has no pods.
	JobSuspended JobState = "Suspended"
	// JobStarting means that the Job may run, and has no pods yet.
	JobStarting JobState = "Starting"
	// JobWaiting means that pods of the Job have no node.
	JobWaiting JobState = "Waiting"
	// JobRunning means that all its pods have nodes.
	JobRunning JobState = "Running"
	// JobComplete means that the Job has completed.
	JobComplete JobState = "Complete"
	// JobFailed means that the Job has failed.
	JobFailed JobState = "Failed"
)

// JobPods counts the pods of a Job.
type JobPods struct {
	// Waiting have no node.
	Waiting int32 `json:"waiting"`
	// Bound have a node and have not ended.
	Bound int32 `json:"bound"`
	// Succeeded and Failed have ended.
	Succeeded int32 `json:"succeeded"`
	Failed    int32 `json:"failed"`
}

// JobQueue is where Kueue has a Job.
type JobQueue struct {
	// Workload of the Job; empty where Kueue has made none.
	// +optional
	Workload string `json:"workload,omitempty"`
	// LocalQueue that the Job names.
	// +optional
	LocalQueue string `json:"localQueue,omitempty"`
	// ClusterQueue of the LocalQueue; empty where it is not known.
	// +optional
	ClusterQueue string `json:"clusterQueue,omitempty"`
	// Admitted is true once Kueue lets the Job run.
	Admitted bool `json:"admitted"`
}
