package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ClusterNetworkTopologyName is the only ClusterNetworkTopology the scheduler reads.
const ClusterNetworkTopologyName = "default"

// TopologyLayer names a layer of the network, such as a spine or a rack.
type TopologyLayer string

const (
	// ClusterTopologyLayer is the reserved root of the tree: the whole cluster.
	ClusterTopologyLayer TopologyLayer = "ClusterTopologyLayer"
	// NodeTopologyLayer is the reserved leaf layer: single nodes.
	NodeTopologyLayer TopologyLayer = "NodeTopologyLayer"
)

// ClusterNetworkTopology describes the layers of the data-centre network by the node labels that express them.
// Only the object named "default" is used.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Cluster
// +kubebuilder:printcolumn:name="Age",type="date",JSONPath=".metadata.creationTimestamp"
type ClusterNetworkTopology struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   ClusterNetworkTopologySpec   `json:"spec,omitempty,omitzero"`
	Status ClusterNetworkTopologyStatus `json:"status,omitempty,omitzero"`
}

// ClusterNetworkTopologyList is a list of ClusterNetworkTopology.
//
// +kubebuilder:object:root=true
type ClusterNetworkTopologyList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []ClusterNetworkTopology `json:"items"`
}

// ClusterNetworkTopologySpec is the tree of layers.
//
// +kubebuilder:pruning:PreserveUnknownFields
type ClusterNetworkTopologySpec struct {
	// NetworkTopologySpec lists the layers in any order; parents tie them to a tree.
	// +kubebuilder:validation:MaxItems=256
	NetworkTopologySpec []NetworkTopologySpec `json:"networkTopologySpec"`
}

// NetworkTopologySpec is one layer.
//
// +kubebuilder:validation:XValidation:rule="!has(self.parentTopologyLayer) || self.parentTopologyLayer != self.topologyLayer",message="a topology layer cannot be its own parent"
// +kubebuilder:pruning:PreserveUnknownFields
type NetworkTopologySpec struct {
	// TopologyLayer is the name of the layer.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	TopologyLayer TopologyLayer `json:"topologyLayer"`
	// ParentTopologyLayer is the layer above; empty below the cluster root.
	// +kubebuilder:validation:MaxLength=253
	// +optional
	ParentTopologyLayer TopologyLayer `json:"parentTopologyLayer,omitempty"`
	// LabelKey lists node label keys that carry the layer's name; the first one a node has is used.
	// +optional
	LabelKey []string `json:"labelKey,omitempty"`
}

// ClusterNetworkTopologyStatus is the tree as found on the nodes.
//
// +kubebuilder:pruning:PreserveUnknownFields
type ClusterNetworkTopologyStatus struct {
	// DetailStatus has one entry per topology domain.
	// +optional
	DetailStatus []*ClusterNetworkTopologyDetailStatus `json:"detailStatus,omitempty"`
}

// ClusterNetworkTopologyDetailStatus is one domain with its neighbours in the tree.
//
// +kubebuilder:pruning:PreserveUnknownFields
type ClusterNetworkTopologyDetailStatus struct {
	// TopologyInfo names the domain.
	TopologyInfo TopologyInfo `json:"topologyInfo"`
	// ParentTopologyInfo names the domain above, if any.
	// +optional
	ParentTopologyInfo *TopologyInfo `json:"parentTopologyInfo,omitempty"`
	// ChildTopologyLayer is the layer of the domains below.
	// +optional
	ChildTopologyLayer TopologyLayer `json:"childTopologyLayer,omitempty"`
	// ChildTopologyNames are the names of the domains below.
	// +optional
	ChildTopologyNames []string `json:"childTopologyNames,omitempty"`
	// NodeNum counts the nodes of the domain.
	NodeNum int `json:"nodeNum"`
}

// TopologyInfo names one domain of one layer.
//
// +kubebuilder:pruning:PreserveUnknownFields
type TopologyInfo struct {
	// TopologyLayer the domain belongs to.
	TopologyLayer TopologyLayer `json:"topologyLayer"`
	// TopologyName is the value of the layer's node label.
	TopologyName string `json:"topologyName"`
}
