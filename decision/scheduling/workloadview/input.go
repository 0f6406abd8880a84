package workloadview

import (
	corev1 "k8s.io/api/core/v1"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
)

// Input is a workload, and what was found out about it.
type Input struct {
	Workload Workload
	// Pods of the workload that have not ended.
	Pods []corev1.Pod
	// PodsUnknown is true where the pods could not be read.
	PodsUnknown bool
	// Overview is what the pods request and use; nil without pods.
	Overview *diagnosticsv1alpha1.WorkloadOverview
	// Waiting explains the pod that jobview.Waiting chose; nil where there is none, or it could not be explained.
	Waiting *diagnosticsv1alpha1.PodExplanation
}
