// Package v1alpha2 holds the kind DeschedulerConfiguration of descheduler/v1alpha2: the configuration file of koord-descheduler.
//
// +kubebuilder:object:generate=true
// +groupName=descheduler
package v1alpha2
