package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ElasticQuotaProfile makes an ElasticQuota as large as a group of nodes.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:shortName=eqp
// +kubebuilder:printcolumn:name="Quota",type="string",JSONPath=".spec.quotaName"
// +kubebuilder:printcolumn:name="Ratio",type="string",JSONPath=".spec.resourceRatio"
// +kubebuilder:printcolumn:name="Age",type="date",JSONPath=".metadata.creationTimestamp"
type ElasticQuotaProfile struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   ElasticQuotaProfileSpec   `json:"spec,omitempty,omitzero"`
	Status ElasticQuotaProfileStatus `json:"status,omitempty,omitzero"`
}

// ElasticQuotaProfileList is a list of ElasticQuotaProfile.
//
// +kubebuilder:object:root=true
type ElasticQuotaProfileList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []ElasticQuotaProfile `json:"items"`
}

// ElasticQuotaProfileSpec names the quota and selects the nodes.
//
// +kubebuilder:pruning:PreserveUnknownFields
type ElasticQuotaProfileSpec struct {
	// QuotaName is the ElasticQuota to make, in the namespace of the profile.
	// +required
	// +kubebuilder:validation:MinLength=1
	QuotaName string `json:"quotaName"`
	// QuotaLabels are given to the quota.
	QuotaLabels map[string]string `json:"quotaLabels,omitempty"`
	// ResourceRatio of the nodes' allocatable that is shared out, such as "0.9", to allow for fragmentation; all of it
	// when unset.
	ResourceRatio *string `json:"resourceRatio,omitempty"`
	// NodeSelector selects the nodes.
	// +required
	NodeSelector *metav1.LabelSelector `json:"nodeSelector"`
}

// ElasticQuotaProfileStatus has no fields yet.
//
// +kubebuilder:pruning:PreserveUnknownFields
type ElasticQuotaProfileStatus struct{}
