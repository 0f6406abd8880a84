// Package v1alpha1 holds the scheduling.sigs.k8s.io/v1alpha1 kinds ElasticQuota and PodGroup, which
// Koordinator shares with the scheduler-plugins project.
//
// +kubebuilder:object:generate=true
// +groupName=scheduling.sigs.k8s.io
package v1alpha1
