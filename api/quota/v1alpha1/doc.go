// Package v1alpha1 holds the quota.koordinator.sh/v1alpha1 kind ElasticQuotaProfile.
//
// +kubebuilder:object:generate=true
// +groupName=quota.koordinator.sh
package v1alpha1
