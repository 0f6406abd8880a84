package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// AdmissionExplanationList is what admission would do with the pods of manifests, in their order: `koordctl explain admission`. No server
// answers it, and nothing is created.
//
// +kubebuilder:object:root=true
type AdmissionExplanationList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []AdmissionExplanation `json:"items"`
	// Incomplete names what could not be read, and what follows; empty when the answers are whole.
	// +optional
	Incomplete []string `json:"incomplete,omitempty"`
}

// AdmissionExplanation is what admission would do with one pod. Its metadata are namespace and name of the object in the manifest.
//
// +kubebuilder:object:root=true
type AdmissionExplanation struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Object of the manifest that has the pod.
	Object AdmissionObject `json:"object"`
	// Verdict in a word, and Message with its reasons.
	Verdict AdmissionVerdict `json:"verdict"`
	Message string           `json:"message"`
	// AppliedBy says who changes the pod, and AppliedReason why it is not the API server.
	AppliedBy AdmissionPath `json:"appliedBy"`
	// +optional
	AppliedReason string `json:"appliedReason,omitempty"`
	// Profiles are all ClusterColocationProfiles by name, the order in which they apply.
	// +optional
	Profiles []AdmissionProfile `json:"profiles,omitempty"`
	// Changes are the fields that admission changes in the pod as Kubernetes passes it to admission, with its defaults. Fields of probable
	// profiles are not among them.
	// +optional
	Changes []AdmissionChange `json:"changes,omitempty"`
	// Pod is what the pod is then.
	Pod AdmittedPod `json:"pod"`
	// Quota that the pod counts against; absent where ElasticQuotas are unknown or not installed.
	// +optional
	Quota *AdmissionQuota `json:"quota,omitempty"`
	// Findings are what validation refuses (error) or warns of, and what else is worth knowing.
	// +optional
	Findings []Finding `json:"findings,omitempty"`
	// DryRun is the API server's answer to a dry run; absent where none was asked for.
	// +optional
	DryRun *AdmissionDryRun `json:"dryRun,omitempty"`
}

// AdmissionObject is where in the manifests the pod stands.
type AdmissionObject struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	// Document in which the object stands, counted from 1 over all files.
	Document int32 `json:"document"`
}

// AdmissionVerdict is what admission says to a pod.
// +enum
type AdmissionVerdict string

const (
	// AdmissionAdmitted pods may be created.
	AdmissionAdmitted AdmissionVerdict = "Admitted"
	// AdmissionRefused pods may not.
	AdmissionRefused AdmissionVerdict = "Refused"
	// AdmissionUnknown is the verdict where something that it depends on could not be read.
	AdmissionUnknown AdmissionVerdict = "Unknown"
)

// AdmissionPath is who applies colocation profiles.
// +enum
type AdmissionPath string

const (
	// AdmissionByPolicy is the API server itself, by a MutatingAdmissionPolicy.
	AdmissionByPolicy AdmissionPath = "MutatingAdmissionPolicy"
	// AdmissionByWebhook is the webhook of koord-manager.
	AdmissionByWebhook AdmissionPath = "Webhook"
	// AdmissionByNone is where nothing applies.
	AdmissionByNone AdmissionPath = "None"
	// AdmissionPathUnknown is where it could not be read.
	AdmissionPathUnknown AdmissionPath = "Unknown"
)

// AdmissionOutcome is what a profile does with a pod.
// +enum
type AdmissionOutcome string

const (
	// ProfileApplied profiles apply.
	ProfileApplied AdmissionOutcome = "Applied"
	// ProfileNotSelected profiles do not select the pod or its namespace.
	ProfileNotSelected AdmissionOutcome = "NotSelected"
	// ProfileProbable profiles select the pod and apply to a percentage of such pods.
	ProfileProbable AdmissionOutcome = "Probable"
	// ProfileNever profiles have a probability of 0.
	ProfileNever AdmissionOutcome = "Never"
	// ProfileInvalid profiles cannot be applied.
	ProfileInvalid AdmissionOutcome = "Invalid"
	// ProfileExempt is the outcome in namespaces whose pods are never changed.
	ProfileExempt AdmissionOutcome = "Exempt"
	// ProfileUnknown is the outcome where the labels of the namespace could not be read.
	ProfileUnknown AdmissionOutcome = "Unknown"
)

// AdmissionProfile is what one ClusterColocationProfile does with the pod.
type AdmissionProfile struct {
	Name    string           `json:"name"`
	Outcome AdmissionOutcome `json:"outcome"`
	// Reason says why the profile does not apply.
	// +optional
	Reason string `json:"reason,omitempty"`
	// Unmet are the terms of the profile that keep it from applying.
	// +optional
	Unmet []AdmissionUnmet `json:"unmet,omitempty"`
	// Changes that the profile makes, or would make if it applied by its probability.
	// +optional
	Changes []AdmissionChange `json:"changes,omitempty"`
	// AppliedBy says who applies the profile, and AppliedReason why it is not the API server.
	// +optional
	AppliedBy AdmissionPath `json:"appliedBy,omitempty"`
	// +optional
	AppliedReason string `json:"appliedReason,omitempty"`
}

// AdmissionUnmet is a requirement of a profile that is not met.
type AdmissionUnmet struct {
	// Term is namespaceSelector, selector or probability.
	Term string `json:"term"`
	// Requirement in the syntax of kubectl -l, or the percentage of a probability.
	Requirement string `json:"requirement"`
	// Key of the label that is required; empty for a probability.
	// +optional
	Key string `json:"key,omitempty"`
	// Value that the namespace or the pod has for the label; absent where it has none.
	// +optional
	Value *string `json:"value,omitempty"`
}

// AdmissionChange is one field before and after. An absent value is a field that is not there.
type AdmissionChange struct {
	// Field is its path in the pod, such as spec.containers[main].resources.requests[kubernetes.io/batch-cpu].
	Field string `json:"field"`
	// +optional
	Before *string `json:"before,omitempty"`
	// +optional
	After *string `json:"after,omitempty"`
	// By is what changes it, such as the name of a profile.
	// +optional
	By string `json:"by,omitempty"`
	// Reason says where the value comes from.
	// +optional
	Reason string `json:"reason,omitempty"`
}

// AdmittedPod is what a pod is after admission.
type AdmittedPod struct {
	// QoSClass of the label, or the one that corresponds to the resources.
	// +optional
	QoSClass string `json:"qosClass,omitempty"`
	// PriorityClass of Koordinator: koord-prod, koord-mid, koord-batch or koord-free.
	// +optional
	PriorityClass string `json:"priorityClass,omitempty"`
	// PriorityClassName and Priority of the spec.
	// +optional
	PriorityClassName string `json:"priorityClassName,omitempty"`
	// +optional
	Priority *int32 `json:"priority,omitempty"`
	// SchedulerName of the spec.
	SchedulerName string `json:"schedulerName"`
	// Resources says what becomes of cpu and memory.
	// +optional
	Resources string `json:"resources,omitempty"`
}

// AdmissionQuota is the ElasticQuota that a pod would count against.
type AdmissionQuota struct {
	Name string `json:"name"`
	// Namespace of the ElasticQuota; empty for the default quota where there is no object of it.
	// +optional
	Namespace string `json:"namespace,omitempty"`
	// Rule says by what the pod belongs to the quota: Label, NamespaceName, NamespaceList, Default or DefaultForMissing.
	Rule string `json:"rule"`
	// Asked is the quota that the pod asks for and that does not exist.
	// +optional
	Asked string `json:"asked,omitempty"`
	// Tree is the ID of the quota tree; empty for the default tree.
	// +optional
	Tree string `json:"tree,omitempty"`
	// Fit is Fits, Exceeded, NotLimited where another scheduler than koord-scheduler places the pod, or Unknown.
	Fit QuotaFit `json:"fit"`
	// Code of what the pod exceeds, and Message with the numbers.
	// +optional
	Code string `json:"code,omitempty"`
	// +optional
	Message string `json:"message,omitempty"`
	// Amounts of the resources that the pod requests and that are limited.
	// +optional
	Amounts []AdmissionQuotaAmount `json:"amounts,omitempty"`
}

// QuotaFit says whether a pod fits a quota.
// +enum
type QuotaFit string

const (
	// QuotaFits is a pod that fits now.
	QuotaFits QuotaFit = "Fits"
	// QuotaExceeded is a pod that would wait.
	QuotaExceeded QuotaFit = "Exceeded"
	// QuotaNotLimited is a pod that counts and is not limited, because another scheduler places it.
	QuotaNotLimited QuotaFit = "NotLimited"
	// QuotaFitUnknown is where pods or nodes could not be read.
	QuotaFitUnknown QuotaFit = "Unknown"
)

// AdmissionQuotaAmount is one resource of a pod and its quota, in the resource's unit.
type AdmissionQuotaAmount struct {
	Resource string `json:"resource"`
	Unit     Unit   `json:"unit"`
	Request  int64  `json:"request"`
	// Available is what a pod may request now, and Bound the quota that limits it.
	Available int64  `json:"available"`
	Bound     string `json:"bound"`
}

// AdmissionDryRun is what the API server says to the pod.
type AdmissionDryRun struct {
	// Verdict of the API server, and Message why the pod is not accepted.
	Verdict DryRunVerdict `json:"verdict"`
	// +optional
	Message string `json:"message,omitempty"`
	// Agrees is true where verdict and pod are what was computed; absent where that cannot be said.
	// +optional
	Agrees *bool `json:"agrees,omitempty"`
	// Differences are the fields that differ: Before is what was computed, After what the API server answers.
	// +optional
	Differences []AdmissionChange `json:"differences,omitempty"`
}
