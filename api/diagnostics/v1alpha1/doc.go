// Package v1alpha1 holds the kinds in which the system answers questions: why a pod is pending, where a node's batch
// resources come from, what the nodes and pods look like to co-location.
//
// PodExplanation, NodeExplanation and NodeExplanationBatch are create-only review kinds, like SubjectAccessReview: the question is
// the spec, the answer comes back in the status and nothing is stored. The overview lists are what `koordctl top` prints with
// `-o json`. Every number carries its unit, its source object and the time it was observed.
//
// +kubebuilder:object:generate=true
// +k8s:openapi-gen=true
// +k8s:openapi-model-package=sh.koordinator.diagnostics.v1alpha1
// +groupName=diagnostics.koordinator.sh
package v1alpha1
