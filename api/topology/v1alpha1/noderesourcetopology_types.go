package v1alpha1

import (
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// NodeResourceTopology is the resources of a node by zone, such as NUMA node; its name is the node's name.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:scope=Cluster,shortName=node-res-topo
// +kubebuilder:metadata:annotations="api-approved.kubernetes.io=https://github.com/kubernetes/enhancements/pull/1870"
// +kubebuilder:printcolumn:name="Policies",type="string",JSONPath=".topologyPolicies"
// +kubebuilder:printcolumn:name="Age",type="date",JSONPath=".metadata.creationTimestamp"
// +kubebuilder:pruning:PreserveUnknownFields
type NodeResourceTopology struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// TopologyPolicies of the node's kubelet.
	TopologyPolicies []string `json:"topologyPolicies"`
	// Zones of the node.
	Zones ZoneList `json:"zones"`
}

// NodeResourceTopologyList is a list of NodeResourceTopology.
//
// +kubebuilder:object:root=true
type NodeResourceTopologyList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []NodeResourceTopology `json:"items"`
}

// ZoneList is a list of zones.
type ZoneList []Zone

// Zone is a part of a node, such as a NUMA node.
//
// +kubebuilder:pruning:PreserveUnknownFields
type Zone struct {
	// Name of the zone, such as node-0.
	Name string `json:"name"`
	// Type of the zone, such as Node.
	Type string `json:"type"`
	// Parent is the zone around it.
	Parent string `json:"parent,omitempty"`
	// Costs of reaching other zones.
	Costs CostList `json:"costs,omitempty"`
	// Attributes of the zone.
	Attributes AttributeList `json:"attributes,omitempty"`
	// Resources of the zone.
	Resources ResourceInfoList `json:"resources,omitempty"`
}

// ResourceInfoList is a list of resources.
type ResourceInfoList []ResourceInfo

// ResourceInfo is an amount of one resource in a zone.
//
// +kubebuilder:pruning:PreserveUnknownFields
type ResourceInfo struct {
	// Name of the resource.
	Name string `json:"name"`
	// Capacity of the zone.
	Capacity resource.Quantity `json:"capacity"`
	// Allocatable to pods.
	Allocatable resource.Quantity `json:"allocatable"`
	// Available is allocatable less what pods took.
	Available resource.Quantity `json:"available"`
}

// CostList is a list of costs.
type CostList []CostInfo

// CostInfo is the cost of reaching a zone.
//
// +kubebuilder:pruning:PreserveUnknownFields
type CostInfo struct {
	// Name of the zone.
	Name string `json:"name"`
	// Value of the cost; 10 is local.
	Value int64 `json:"value"`
}

// AttributeList is a list of attributes.
type AttributeList []AttributeInfo

// AttributeInfo is one attribute.
//
// +kubebuilder:pruning:PreserveUnknownFields
type AttributeInfo struct {
	// Name of the attribute.
	Name string `json:"name"`
	// Value of the attribute.
	Value string `json:"value"`
}
