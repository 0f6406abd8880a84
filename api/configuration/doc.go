// Package configuration is the schema of the ConfigMap slo-controller-config: the strategies of co-location, by
// cluster and by group of nodes, and their built-in defaults.
//
// Each key of the ConfigMap holds one JSON document. A value on a node is the built-in default, overridden field by
// field by the cluster's strategy, then by the first entry whose selector matches the node; the colocation strategy is
// further overridden by the node's annotation and labels.
//
// +kubebuilder:object:generate=true
package configuration
