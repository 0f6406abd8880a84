// Package v1alpha1 holds the analysis.koordinator.sh/v1alpha1 kind Recommendation.
//
// +kubebuilder:object:generate=true
// +groupName=analysis.koordinator.sh
package v1alpha1
