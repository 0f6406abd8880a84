package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// WorkloadExplanation says whether a Deployment, StatefulSet, ReplicaSet or DaemonSet has the pods that it wants, and what they request, use and
// leave idle: `koordctl explain deployment`.
//
// +kubebuilder:object:root=true
type WorkloadExplanation struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Workload is the controller.
	Workload SourceRef `json:"workload"`
	// State in one word.
	State WorkloadState `json:"state"`
	// HeldBy is what keeps pods from running: ElasticQuota, PodGroup, Kueue, or koord-scheduler where no node takes them; empty where none waits, or
	// for another reason.
	// +optional
	HeldBy string `json:"heldBy,omitempty"`
	// Summary is the state and its reason in one sentence.
	Summary string `json:"summary"`
	// Code of the reason; empty where there is none.
	// +optional
	Code string `json:"code,omitempty"`
	// Replicas are the pods that it wants.
	Replicas int32 `json:"replicas"`
	// Ready counts the pods that are ready.
	Ready int32 `json:"ready"`
	// Overview is what its pods request and use, as `koordctl top workloads` shows it; absent without pods.
	// +optional
	Overview *WorkloadOverview `json:"overview,omitempty"`
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

// WorkloadState is how far a workload is, in one word.
type WorkloadState string

const (
	// WorkloadWaiting means that pods have no node.
	WorkloadWaiting WorkloadState = "Waiting"
	// WorkloadRefused means that pods could not be created.
	WorkloadRefused WorkloadState = "Refused"
	// WorkloadRollingOut means that pods are being replaced.
	WorkloadRollingOut WorkloadState = "RollingOut"
	// WorkloadScalingDown means that there are more pods than are wanted.
	WorkloadScalingDown WorkloadState = "ScalingDown"
	// WorkloadStarting means that pods are wanted that do not exist yet.
	WorkloadStarting WorkloadState = "Starting"
	// WorkloadUnready means that pods have nodes and are not ready.
	WorkloadUnready WorkloadState = "Unready"
	// WorkloadStopped means that no pods are wanted.
	WorkloadStopped WorkloadState = "Stopped"
	// WorkloadRunning means that all pods are ready.
	WorkloadRunning WorkloadState = "Running"
	// WorkloadUnknown means that the pods could not be read.
	WorkloadUnknown WorkloadState = "Unknown"
)
