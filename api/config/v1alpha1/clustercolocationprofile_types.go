package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// ClusterColocationProfile turns ordinary pods into co-located ones when they are created.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Cluster
// +kubebuilder:printcolumn:name="QoS",type="string",JSONPath=".spec.qosClass"
// +kubebuilder:printcolumn:name="Priority",type="string",JSONPath=".spec.priorityClassName"
// +kubebuilder:printcolumn:name="Probability",type="string",JSONPath=".spec.probability"
// +kubebuilder:printcolumn:name="Age",type="date",JSONPath=".metadata.creationTimestamp"
type ClusterColocationProfile struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   ClusterColocationProfileSpec   `json:"spec,omitempty,omitzero"`
	Status ClusterColocationProfileStatus `json:"status,omitempty,omitzero"`
}

// ClusterColocationProfileList is a list of ClusterColocationProfile.
//
// +kubebuilder:object:root=true
type ClusterColocationProfileList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []ClusterColocationProfile `json:"items"`
}

// ClusterColocationProfileSpec says which pods to change and how.
//
// +kubebuilder:pruning:PreserveUnknownFields
type ClusterColocationProfileSpec struct {
	// NamespaceSelector selects by the labels of the pod's namespace; all namespaces when unset.
	// +optional
	NamespaceSelector *metav1.LabelSelector `json:"namespaceSelector,omitempty"`
	// Selector selects by the labels of the pod; all pods when unset.
	// +optional
	Selector *metav1.LabelSelector `json:"selector,omitempty"`
	// Probability that a selected pod is changed: a percentage as an integer or as a string such as "50%". Always
	// when unset.
	// +kubebuilder:validation:XIntOrString
	// +kubebuilder:validation:XValidation:rule="type(self) == string ? self.matches('^(100|[1-9]?[0-9])%$') : self >= 0 && self <= 100",message="probability must be an integer from 0 to 100, or a string from 0% to 100%"
	// +optional
	Probability *intstr.IntOrString `json:"probability,omitempty"`
	// QoSClass given to the pod.
	// +kubebuilder:validation:Enum=LSE;LSR;LS;BE;SYSTEM
	// +optional
	QoSClass string `json:"qosClass,omitempty"`
	// PriorityClassName given to the pod; the object must exist.
	// +optional
	PriorityClassName string `json:"priorityClassName,omitempty"`
	// KoordinatorPriority given to the pod: its order within the priority class.
	// +optional
	KoordinatorPriority *int32 `json:"koordinatorPriority,omitempty"`
	// Labels added to the pod.
	// +optional
	Labels map[string]string `json:"labels,omitempty"`
	// Annotations added to the pod.
	// +optional
	Annotations map[string]string `json:"annotations,omitempty"`
	// LabelKeysMapping copies the value of one label of the pod to another: from the key to the value.
	// +optional
	LabelKeysMapping map[string]string `json:"labelKeysMapping,omitempty"`
	// AnnotationKeysMapping copies the value of one annotation of the pod to another: from the key to the value.
	// +optional
	AnnotationKeysMapping map[string]string `json:"annotationKeysMapping,omitempty"`
	// LabelSuffixes are appended to the values of labels of the pod.
	// +optional
	LabelSuffixes map[string]string `json:"labelSuffixes,omitempty"`
	// SchedulerName given to the pod.
	// +optional
	SchedulerName string `json:"schedulerName,omitempty"`
	// Patch is a strategic merge patch of the pod, applied last.
	// +kubebuilder:pruning:PreserveUnknownFields
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:Type=object
	// +optional
	Patch runtime.RawExtension `json:"patch,omitempty,omitzero"`
}

// ClusterColocationProfileStatus has no fields yet.
//
// +kubebuilder:pruning:PreserveUnknownFields
type ClusterColocationProfileStatus struct{}
