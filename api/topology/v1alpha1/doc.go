// Package v1alpha1 holds the topology.node.k8s.io/v1alpha1 kind NodeResourceTopology, which Koordinator
// shares with the node-resource-topology project.
//
// +kubebuilder:object:generate=true
// +groupName=topology.node.k8s.io
package v1alpha1
