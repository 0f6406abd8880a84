package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ElasticQuota guarantees min to the pods of a group and lets them borrow up to max.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:scope=Namespaced
// +kubebuilder:metadata:annotations="api-approved.kubernetes.io=https://github.com/kubernetes-sigs/scheduler-plugins/pull/50"
// +kubebuilder:printcolumn:name="Parent",type="string",JSONPath=".metadata.labels.quota\\.scheduling\\.koordinator\\.sh/parent"
// +kubebuilder:printcolumn:name="Age",type="date",JSONPath=".metadata.creationTimestamp"
type ElasticQuota struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   ElasticQuotaSpec   `json:"spec,omitempty,omitzero"`
	Status ElasticQuotaStatus `json:"status,omitempty,omitzero"`
}

// ElasticQuotaList is a list of ElasticQuota.
//
// +kubebuilder:object:root=true
type ElasticQuotaList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []ElasticQuota `json:"items"`
}

// ElasticQuotaSpec is what the group is guaranteed and what it may borrow. The rules check the common resources: the
// API server bounds the cost of rules, and the number of resources is not bounded.
//
// +kubebuilder:validation:XValidation:rule="!has(self.min) || !has(self.max) || ['cpu', 'memory', 'nvidia.com/gpu', 'kubernetes.io/batch-cpu', 'kubernetes.io/batch-memory'].all(k, !(k in self.min) || !(k in self.max) || quantity(string(self.min[k])).compareTo(quantity(string(self.max[k]))) <= 0)",message="min must not exceed max"
// +kubebuilder:pruning:PreserveUnknownFields
type ElasticQuotaSpec struct {
	// Min is guaranteed.
	// +kubebuilder:validation:XValidation:rule="['cpu', 'memory', 'nvidia.com/gpu', 'kubernetes.io/batch-cpu', 'kubernetes.io/batch-memory'].all(k, !(k in self) || quantity(string(self[k])).compareTo(quantity('0')) >= 0)",message="min must not be negative"
	// +optional
	Min corev1.ResourceList `json:"min,omitempty"`
	// Max is the most the group may use.
	// +kubebuilder:validation:XValidation:rule="['cpu', 'memory', 'nvidia.com/gpu', 'kubernetes.io/batch-cpu', 'kubernetes.io/batch-memory'].all(k, !(k in self) || quantity(string(self[k])).compareTo(quantity('0')) >= 0)",message="max must not be negative"
	// +optional
	Max corev1.ResourceList `json:"max,omitempty"`
}

// ElasticQuotaStatus is what the group uses.
//
// +kubebuilder:pruning:PreserveUnknownFields
type ElasticQuotaStatus struct {
	// Used by the pods of the group.
	// +optional
	Used corev1.ResourceList `json:"used,omitempty"`
}
