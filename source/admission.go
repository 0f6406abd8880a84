package source

import (
	"context"

	corev1 "k8s.io/api/core/v1"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
)

// AdmissionExplainer is a source that says what admission would do with pods that do not exist. Implementations are safe for concurrent
// use.
type AdmissionExplainer interface {
	// ExplainAdmission explains pods in their order, each by itself. It creates nothing, also where it asks for dry runs. What cannot be
	// read, the answer names.
	ExplainAdmission(ctx context.Context, query AdmissionQuery) (*diagnosticsv1alpha1.AdmissionExplanationList, error)
}

// AdmissionQuery are pods of manifests.
type AdmissionQuery struct {
	Pods []AdmissionPod
	// DryRun also asks the API server to create each pod, as a dry run.
	DryRun bool
}

// AdmissionPod is a pod of a manifest.
type AdmissionPod struct {
	// APIVersion, Kind and Name are those of the object that has the pod.
	APIVersion, Kind, Name string
	// Document of the manifests, counted from 1.
	Document int
	// Pod as it is to be created, with its namespace. A pod of a workload has no name, and its controller as its owner.
	Pod *corev1.Pod
}
