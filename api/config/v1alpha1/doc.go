// Package v1alpha1 holds the config.koordinator.sh/v1alpha1 kind ClusterColocationProfile.
//
// +kubebuilder:object:generate=true
// +groupName=config.koordinator.sh
package v1alpha1
