// Package v1alpha1 holds the slo.koordinator.sh/v1alpha1 kinds: NodeMetric, what a node's agent measured, and NodeSLO,
// the QoS strategies the agent enforces.
//
// The JSON is Koordinator's. Empty structs are left out on encoding where upstream's encoder writes {} or null.
//
// +kubebuilder:object:generate=true
// +groupName=slo.koordinator.sh
package v1alpha1
