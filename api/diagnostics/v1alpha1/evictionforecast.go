package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// EvictionForecast is how far a node is from evicting pods.
type EvictionForecast struct {
	// Trend of what the node uses.
	// +optional
	Trend *UsageTrend `json:"trend,omitempty"`
	// Triggers in the order in which they decide.
	Triggers []EvictionTrigger `json:"triggers"`
	// Evicted counts the evictions by koordlet within EvictedWithinSeconds; both are absent when koordlet was not queried.
	// +optional
	Evicted int32 `json:"evicted,omitempty"`
	// +optional
	EvictedWithinSeconds int64 `json:"evictedWithinSeconds,omitempty"`
}

// UsageTrend is by how much use grows.
type UsageTrend struct {
	// OverSeconds that the samples span.
	OverSeconds int64 `json:"overSeconds"`
	// Samples that the trend rests on.
	Samples int32 `json:"samples"`
	// CPUPerHour in milliCPU and MemoryPerHour in bytes; negative when use falls.
	CPUPerHour    int64 `json:"cpuPerHour"`
	MemoryPerHour int64 `json:"memoryPerHour"`
}

// TriggerState is the state of a trigger of evictions.
//
// +kubebuilder:validation:Enum=off;unset;unknown;calm;triggered
type TriggerState string

// EvictionTrigger is one feature that evicts, and for features that compare requests one tier of them.
type EvictionTrigger struct {
	// Feature by the name of its gate.
	Feature string `json:"feature"`
	// Tier whose requests are compared with the offer: plain, mid or batch; empty for features that look at use.
	// +optional
	Tier string `json:"tier,omitempty"`
	// State of the trigger, and the Reason for it in one sentence.
	State  TriggerState `json:"state"`
	Reason string       `json:"reason"`
	// ObservedPercent is compared with ThresholdPercent; absent when nothing was. For BECPUEvict lower is worse.
	// +optional
	ObservedPercent *int64 `json:"observedPercent,omitempty"`
	// +optional
	ThresholdPercent *int64 `json:"thresholdPercent,omitempty"`
	// TargetPercent is where evictions stop.
	// +optional
	TargetPercent *int64 `json:"targetPercent,omitempty"`
	// Margin is by how much use or requests may still grow, or the limit of best-effort pods shrink, in Unit.
	// +optional
	Margin *int64 `json:"margin,omitempty"`
	// Release is what has to be released, in Unit.
	// +optional
	Release int64 `json:"release,omitempty"`
	Unit    Unit  `json:"unit"`
	// Seconds until it is triggered if usage keeps its trend; 0 if it is triggered already, absent if it never will be or if that is not known.
	// +optional
	Seconds *int64 `json:"seconds,omitempty"`
	// Held says why nothing, or no more, is evicted although more is wanted.
	// +optional
	Held string `json:"held,omitempty"`
	// Candidates in the order in which they would go.
	// +optional
	Candidates []EvictionCandidate `json:"candidates,omitempty"`
	// CandidatesUnknown says why the candidates are not known; empty when they are.
	// +optional
	CandidatesUnknown string `json:"candidatesUnknown,omitempty"`
	// CandidatesOmitted counts those left out to bound the answer's size, and Protected the pods that are never taken.
	// +optional
	CandidatesOmitted int32 `json:"candidatesOmitted,omitempty"`
	// +optional
	Protected int32 `json:"protected,omitempty"`
}

// EvictionCandidate is a pod that may be evicted, or a container of a scheduler outside of Kubernetes.
type EvictionCandidate struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	// Agent that the container belongs to; empty for a pod.
	// +optional
	Agent string `json:"agent,omitempty"`
	// Frees is what it releases, in the trigger's unit.
	Frees int64 `json:"frees"`
	// Keys by which it was ordered; the first in which two pods differ decides.
	Keys []SortKey `json:"keys,omitempty"`
	// Victim is true for a pod that is being evicted.
	// +optional
	Victim bool `json:"victim,omitempty"`
}

// SortKey is a value by which candidates are ordered.
type SortKey struct {
	// Name is evictionPriority, priority, subPriority, usedOfRequest, used, requested, done (of a job with a prediction) or, of containers, work.
	Name  string `json:"name"`
	Value int64  `json:"value"`
	Unit  Unit   `json:"unit"`
	// Descending keys let the larger value go first.
	// +optional
	Descending bool `json:"descending,omitempty"`
}

// AuditPage is a part of an agent's audit log.
type AuditPage struct {
	// Entries, the oldest first.
	Entries []AuditEntry `json:"entries"`
	// Last is the number of the latest entry of the log; to be given as after to follow it.
	Last int64 `json:"last"`
	// Missed counts the entries between after and the first that were pushed out of the log.
	// +optional
	Missed int64 `json:"missed,omitempty"`
}

// AuditEntry is one thing that an agent did.
type AuditEntry struct {
	// Number counts all entries of this instance of the agent from 1.
	Number int64            `json:"number"`
	Time   metav1.MicroTime `json:"time"`
	// Owner is the feature that wanted it.
	Owner string `json:"owner"`
	// Object is the file, relative to the root of its tree, or the pod.
	Object string `json:"object"`
	// Old and New are what was there before and after; equal when it was refused.
	Old string `json:"old"`
	New string `json:"new"`
	// Why with numbers.
	// +optional
	Why string `json:"why,omitempty"`
	// Error is the error of the kernel or the API server; empty on success.
	// +optional
	Error string `json:"error,omitempty"`
}
