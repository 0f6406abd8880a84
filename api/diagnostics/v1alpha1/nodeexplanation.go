package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// NodeExplanation asks where a node's batch and mid resources come from. Create-only.
//
// +kubebuilder:object:root=true
type NodeExplanation struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec NodeExplanationSpec `json:"spec"`
	// +optional
	Status NodeExplanationStatus `json:"status,omitempty"`
}

// NodeExplanationList is a list of NodeExplanation.
//
// +kubebuilder:object:root=true
type NodeExplanationList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []NodeExplanation `json:"items"`
}

// NodeExplanationSpec is the question.
type NodeExplanationSpec struct {
	// NodeName to explain.
	NodeName string `json:"nodeName"`
	// Resources to explain: batch-cpu, batch-memory, mid-cpu, mid-memory; default all four, none when agent is set.
	// +optional
	Resources []string `json:"resources,omitempty"`
	// MaxParts bounds the parts listed under a term; default 10, at most 1000.
	// +optional
	MaxParts *int32 `json:"maxParts,omitempty"`
	// Agent asks the agent of the node, too; then only the resources that are named are explained.
	// +optional
	Agent *AgentQuestion `json:"agent,omitempty"`
	// Outlook also asks what the node will offer at least of the resources, as far as that is predicted.
	// +optional
	Outlook bool `json:"outlook,omitempty"`
}

// MetricState says how far a node's NodeMetric can be trusted.
//
// +kubebuilder:validation:Enum=Fresh;Stale;Expired;Absent;Invalid;Unknown
type MetricState string

const (
	// MetricFresh is younger than two report intervals.
	MetricFresh MetricState = "Fresh"
	// MetricStale is older than two report intervals, and still in use.
	MetricStale MetricState = "Stale"
	// MetricExpired is older than degradeTimeMinutes: the node offers no batch and mid resources.
	MetricExpired MetricState = "Expired"
	// MetricAbsent means there is no NodeMetric, or none was ever reported.
	MetricAbsent MetricState = "Absent"
	// MetricInvalid means the values cannot be: negative, beyond any capacity, or from the future.
	MetricInvalid MetricState = "Invalid"
	// MetricUnknown means that the NodeMetric, or the configuration that says when it is too old, could not be read.
	MetricUnknown MetricState = "Unknown"
)

// NodeExplanationStatus is the answer.
type NodeExplanationStatus struct {
	// Summary is one sentence.
	Summary string `json:"summary"`
	// Node repeats what the manager saw of the node.
	Node NodeFacts `json:"node"`
	// Metric says how old the data is.
	Metric MetricFacts `json:"metric"`
	// Strategy lists the configuration in force and the layer each value came from; empty when the configuration could not be read.
	// +optional
	Strategy []Setting `json:"strategy,omitempty"`
	// Waterfalls, one per requested resource that could be computed.
	// +optional
	Waterfalls []Waterfall `json:"waterfalls,omitempty"`
	// Published compares node.status with the waterfalls.
	// +optional
	Published []PublishedResource `json:"published,omitempty"`
	// Outlook of the resources, in the order of the waterfalls; absent when spec.outlook is not set.
	// +optional
	Outlook []OfferOutlook `json:"outlook,omitempty"`
	// Agent is the answer of koordlet; absent when spec.agent is not set.
	// +optional
	Agent *AgentExplanation `json:"agent,omitempty"`
	// Findings noticed on the way.
	// +optional
	Findings []Finding `json:"findings,omitempty"`
	// Unknown names the inputs that could not be read; empty when all were.
	// +optional
	Unknown []UnknownInput `json:"unknown,omitempty"`
	// Incomplete names what could not be seen or evaluated, and why; empty when the answer is whole.
	// +optional
	Incomplete []string `json:"incomplete,omitempty"`
	// Withheld counts the objects that the answer would name if the caller could get them. Sums are of all pods all the same.
	// +optional
	Withheld []Withheld `json:"withheld,omitempty"`
	// Origin of the answer.
	Origin Origin `json:"origin"`
}

// NodeFacts are the facts about a node that koord-manager has.
type NodeFacts struct {
	Name string `json:"name"`
	// Ready is the Ready condition.
	Ready bool `json:"ready"`
	// Unschedulable is spec.unschedulable.
	// +optional
	Unschedulable bool `json:"unschedulable,omitempty"`
	// Capacity of cpu and memory.
	// +optional
	Capacity corev1.ResourceList `json:"capacity,omitempty"`
	// Allocatable of cpu, memory and the batch and mid resources.
	// +optional
	Allocatable corev1.ResourceList `json:"allocatable,omitempty"`
	// Pods counts the node's pods that are neither succeeded nor failed; absent when the pods could not be listed.
	// +optional
	Pods *int32 `json:"pods,omitempty"`
}

// MetricFacts says how old and how good a NodeMetric is.
type MetricFacts struct {
	State MetricState `json:"state"`
	// UpdateTime of the NodeMetric.
	// +optional
	UpdateTime *metav1.Time `json:"updateTime,omitempty"`
	// ReportIntervalSeconds is the configured report interval of the node.
	// +optional
	ReportIntervalSeconds int64 `json:"reportIntervalSeconds,omitempty"`
	// Problem says what is wrong with an invalid one.
	// +optional
	Problem string `json:"problem,omitempty"`
	// NotEnforcing says why koordlet cannot limit best-effort pods, so that the node offers no batch and mid resources; empty while
	// it can, and if koordlet does not report it.
	// +optional
	NotEnforcing string `json:"notEnforcing,omitempty"`
}

// Setting is one value of the merged configuration.
type Setting struct {
	// Key is the configuration key, such as cpuReclaimThresholdPercent.
	Key string `json:"key"`
	// Value as text.
	Value string `json:"value"`
	// Layer it came from: default, cluster, node strategy NAME, node annotation, node label.
	Layer string `json:"layer"`
	// AtDefault is true when the value is the built-in default, whichever layer it came from.
	// +optional
	AtDefault bool `json:"atDefault,omitempty"`
}

// SyncState says how node.status relates to the computed value.
//
// +kubebuilder:validation:Enum=InSync;WithinThreshold;Pending;Withdrawn;NotPublished;Unknown
type SyncState string

const (
	// InSync means status and computation agree.
	InSync SyncState = "InSync"
	// WithinThreshold means they differ by less than resourceDiffThreshold, so the controller waits for updateTimeThresholdSeconds.
	WithinThreshold SyncState = "WithinThreshold"
	// Pending means the controller's next pass will write.
	Pending SyncState = "Pending"
	// Withdrawn means the resource was taken back: disabled, or degraded for lack of trustworthy data.
	Withdrawn SyncState = "Withdrawn"
	// NotPublished means node.status does not have the resource.
	NotPublished SyncState = "NotPublished"
	// SyncUnknown means that the value could not be computed, because an input could not be read.
	SyncUnknown SyncState = "Unknown"
)

// PublishedResource compares one resource of node.status with its waterfall.
type PublishedResource struct {
	Resource string `json:"resource"`
	Unit     Unit   `json:"unit"`
	// Published in node.status.allocatable; absent when the resource is not there.
	// +optional
	Published *int64 `json:"published,omitempty"`
	// Computed is the waterfall's result now; absent when it could not be computed, and then there is no waterfall either.
	// +optional
	Computed *int64    `json:"computed,omitempty"`
	State    SyncState `json:"state"`
	// Reason says why they differ and what happens next.
	// +optional
	Reason string `json:"reason,omitempty"`
}
