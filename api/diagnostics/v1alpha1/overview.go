package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// NodeOverview is one node as co-location sees it: a row of `koordctl top nodes`.
//
// +kubebuilder:object:root=true
type NodeOverview struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// CPU in millicores.
	CPU ResourceOverview `json:"cpu"`
	// Memory in bytes.
	Memory ResourceOverview `json:"memory"`
	// Metric says how old the data is.
	Metric MetricFacts `json:"metric"`
	// Load is the load-aware scheduler's view.
	Load LoadOverview `json:"load"`
	// Balance is koord-descheduler's view; absent unless it was asked for, and where no plugin moves pods for the load of the node.
	// +optional
	Balance *BalanceOverview `json:"balance,omitempty"`
	// Ready is the Ready condition.
	Ready bool `json:"ready"`
	// Unschedulable is spec.unschedulable.
	// +optional
	Unschedulable bool `json:"unschedulable,omitempty"`
	// Pods counts the node's pods that are neither succeeded nor failed; absent when the pods could not be listed.
	// +optional
	Pods *int32 `json:"pods,omitempty"`
}

// NodeOverviewList is what `koordctl top nodes -o json` prints.
//
// +kubebuilder:object:root=true
type NodeOverviewList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []NodeOverview `json:"items"`
	// Unknown names the inputs that could not be read; empty when all were.
	// +optional
	Unknown []UnknownInput `json:"unknown,omitempty"`
	// Incomplete names what could not be seen, and why; empty when the list is whole.
	// +optional
	Incomplete []string `json:"incomplete,omitempty"`
}

// ResourceOverview is one resource of a node, in milliCPU or bytes. The areas of the co-location chart are
// prodUsed | prodRequested-prodUsed | mid | batchUsed | batchAllocatable-batchUsed | system.
type ResourceOverview struct {
	// Capacity of the node.
	Capacity int64 `json:"capacity"`
	// Allocatable of the plain resource, as node.status shows it: after amplification.
	Allocatable int64 `json:"allocatable"`
	// RawAllocatable is what the kubelet offers, to which use compares; absent where the node is not amplified.
	// +optional
	RawAllocatable *int64 `json:"rawAllocatable,omitempty"`
	// Used on the whole node, as measured; absent without a trustworthy NodeMetric.
	// +optional
	Used *int64 `json:"used,omitempty"`
	// SystemUsed is used by nothing that is a pod, as measured.
	// +optional
	SystemUsed *int64 `json:"systemUsed,omitempty"`
	// ProdRequested is the sum of requests of pods that are neither mid, batch nor free; like all sums of requests absent when
	// the pods could not be listed.
	// +optional
	ProdRequested *int64 `json:"prodRequested,omitempty"`
	// ProdUsed is the measured use of those pods.
	// +optional
	ProdUsed *int64 `json:"prodUsed,omitempty"`
	// MidAllocatable is mid-cpu or mid-memory in node.status; absent when not published.
	// +optional
	MidAllocatable *int64 `json:"midAllocatable,omitempty"`
	// MidRequested is the sum of mid requests.
	// +optional
	MidRequested *int64 `json:"midRequested,omitempty"`
	// MidUsed is the measured use of mid pods.
	// +optional
	MidUsed *int64 `json:"midUsed,omitempty"`
	// BatchAllocatable is batch-cpu or batch-memory in node.status; absent when not published.
	// +optional
	BatchAllocatable *int64 `json:"batchAllocatable,omitempty"`
	// BatchRequested is the sum of batch requests.
	// +optional
	BatchRequested *int64 `json:"batchRequested,omitempty"`
	// BatchUsed is the measured use of batch pods.
	// +optional
	BatchUsed *int64 `json:"batchUsed,omitempty"`
	// FreeUsed is the measured use of koord-free pods.
	// +optional
	FreeUsed *int64 `json:"freeUsed,omitempty"`
	// Reclaimable is prodReclaimable of the NodeMetric's prediction.
	// +optional
	Reclaimable *int64 `json:"reclaimable,omitempty"`
}

// LoadState is the load-aware scheduler's view of a node in one word.
//
// +kubebuilder:validation:Enum=Normal;Hot;Expired;Unknown
type LoadState string

const (
	// LoadNormal means usage is under every threshold.
	LoadNormal LoadState = "Normal"
	// LoadHot means some usage exceeds its threshold: new pods are refused.
	LoadHot LoadState = "Hot"
	// LoadExpired means the NodeMetric is too old for load-aware scheduling.
	LoadExpired LoadState = "Expired"
	// LoadUnknown means that there is no NodeMetric, so that load-aware scheduling lets every pod pass, or that the NodeMetric
	// or the thresholds could not be read, which the message then says.
	LoadUnknown LoadState = "Unknown"
)

// LoadOverview is a node's load against the load-aware thresholds.
type LoadOverview struct {
	State LoadState `json:"state"`
	// Operands are the usage percentages, samples and thresholds; absent unless they were asked for.
	// +optional
	Operands []Term `json:"operands,omitempty"`
	// Message is the state in one sentence.
	// +optional
	Message string `json:"message,omitempty"`
}

// BalanceState is koord-descheduler's view of a node in one word.
//
// +kubebuilder:validation:Enum=Overutilized;Underutilized;Normal;Unknown
type BalanceState string

const (
	// BalanceOverutilized means some usage exceeds its high threshold: pods leave the node.
	BalanceOverutilized BalanceState = "Overutilized"
	// BalanceUnderutilized means all usage is under the low thresholds: the node takes pods. LoadAwareRebalancing compares targets with
	// each other instead, and knows no such nodes.
	BalanceUnderutilized BalanceState = "Underutilized"
	// BalanceNormal means neither.
	BalanceNormal BalanceState = "Normal"
	// BalanceUnknown means that the usage of the node is not known, or that something could not be read, which the message says.
	BalanceUnknown BalanceState = "Unknown"
)

// BalanceOverview is a node's load against the thresholds of koord-descheduler. Where several plugins judge a node, it is that of the first
// one that finds the node overutilized, or else that of the first one.
type BalanceOverview struct {
	State BalanceState `json:"state"`
	// Plugin that judged: LowNodeLoad by the usage in the NodeMetric, or LoadAwareRebalancing, which koord-descheduler runs with the
	// predicted usage, and of which this is the verdict on the usage in the NodeMetric.
	// +optional
	Plugin string `json:"plugin,omitempty"`
	// Pool is the node pool of the plugin that the node is in; empty for the default one.
	// +optional
	Pool string `json:"pool,omitempty"`
	// Message has the usage and the thresholds, such as "cpu 81% > 75%".
	// +optional
	Message string `json:"message,omitempty"`
}

// PodOverview is one pod as co-location sees it: a row of `koordctl top pods`.
//
// +kubebuilder:object:root=true
type PodOverview struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// QoSClass is LSE, LSR, LS, BE or SYSTEM.
	QoSClass string `json:"qosClass"`
	// PriorityBand is koord-prod, koord-mid, koord-batch, koord-free or empty.
	// +optional
	PriorityBand string `json:"priorityBand,omitempty"`
	// Phase of the pod.
	Phase corev1.PodPhase `json:"phase"`
	// Reason why a pod is pending or has failed, as its conditions and containers say; empty where they say nothing.
	// +optional
	Reason string `json:"reason,omitempty"`
	// NodeName the pod is bound to.
	// +optional
	NodeName string `json:"nodeName,omitempty"`
	// CPU in millicores.
	CPU PodResourceOverview `json:"cpu"`
	// Memory in bytes.
	Memory PodResourceOverview `json:"memory"`
	// ObservedAt is the time of the NodeMetric the use comes from.
	// +optional
	ObservedAt *metav1.Time `json:"observedAt,omitempty"`
}

// PodOverviewList is what `koordctl top pods -o json` prints.
//
// +kubebuilder:object:root=true
type PodOverviewList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []PodOverview `json:"items"`
	// Agents of schedulers outside of Kubernetes, with their containers, where they were asked for.
	// +optional
	Agents []ContainerAgent `json:"agents,omitempty"`
	// Unknown names the inputs that could not be read; empty when all were.
	// +optional
	Unknown []UnknownInput `json:"unknown,omitempty"`
	// Incomplete names what could not be seen, and why; empty when the list is whole.
	// +optional
	Incomplete []string `json:"incomplete,omitempty"`
}

// PodResourceOverview is a pod's request against its use.
type PodResourceOverview struct {
	// Tier the request is made in: plain, mid or batch.
	Tier string `json:"tier"`
	// Requested, in milliCPU or bytes.
	Requested int64 `json:"requested"`
	// Limit, in milliCPU or bytes; absent when unlimited.
	// +optional
	Limit *int64 `json:"limit,omitempty"`
	// Used as measured; absent when no NodeMetric reports the pod.
	// +optional
	Used *int64 `json:"used,omitempty"`
}
