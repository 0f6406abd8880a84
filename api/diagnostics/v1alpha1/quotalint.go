package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// QuotaLint is what koord-manager would answer to an ElasticQuota of a manifest. No server answers it.
//
// +kubebuilder:object:root=true
type QuotaLint struct {
	metav1.TypeMeta `json:",inline"`
	// Namespace and name are those of the quota.
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// File that the quota is in, and the Document in it, from 1.
	File     string `json:"file"`
	Document int32  `json:"document"`
	// Refused is true where koord-manager would refuse the quota.
	Refused bool `json:"refused"`
	// Findings about the quota; those with severity error are what it is refused for.
	// +optional
	Findings []Finding `json:"findings,omitempty"`
}

// QuotaLintList is what `koordctl lint quotas -o json` prints.
//
// +kubebuilder:object:root=true
type QuotaLintList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	// Items are the quotas in the order of the manifests.
	Items []QuotaLint `json:"items"`
	// Incomplete names what could not be read of the cluster, and why; empty when the answer is whole.
	// +optional
	Incomplete []string `json:"incomplete,omitempty"`
}
