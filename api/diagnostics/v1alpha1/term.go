package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Unit says what an integer counts.
// +kubebuilder:validation:Enum=milliCPU;bytes;percent;count;seconds
type Unit string

const (
	// MilliCPU counts thousandths of one logical CPU.
	MilliCPU Unit = "milliCPU"
	// Bytes counts bytes.
	Bytes Unit = "bytes"
	// Percent counts whole percent of the quantity that the term's note names.
	Percent Unit = "percent"
	// Count counts things.
	Count Unit = "count"
	// Seconds counts seconds.
	Seconds Unit = "seconds"
)

// Operator says how a term enters the running value of its waterfall.
// +kubebuilder:validation:Enum=start;minus;plus;min;max;times;result;info
type Operator string

const (
	// Start begins a waterfall with the term's value.
	Start Operator = "start"
	// Minus subtracts the term's value.
	Minus Operator = "minus"
	// Plus adds the term's value.
	Plus Operator = "plus"
	// Min caps the running value at the term's value.
	Min Operator = "min"
	// Max raises the running value to the term's value.
	Max Operator = "max"
	// Times multiplies the running value by the term's value in percent (100 leaves it unchanged).
	Times Operator = "times"
	// Result ends a waterfall: the term's value is the running value.
	Result Operator = "result"
	// Info is shown and does not enter the value.
	Info Operator = "info"
)

// SourceRef names the object, and the field inside it, that a value was read from.
type SourceRef struct {
	// Kind of the object: Node, NodeMetric, Pod, ConfigMap, Default.
	Kind string `json:"kind"`
	// Namespace of the object; empty for cluster-scoped ones.
	// +optional
	Namespace string `json:"namespace,omitempty"`
	// Name of the object.
	// +optional
	Name string `json:"name,omitempty"`
	// Field is the path of the value inside the object, as kubectl explain spells it.
	// +optional
	Field string `json:"field,omitempty"`
}

// Term is one value of an explanation: a step of a waterfall or an operand of a verdict.
type Term struct {
	// Name is the stable key of the term, lowerCamelCase: capacity, margin, systemUsed.
	Name string `json:"name"`
	// Operator says how the value enters the waterfall; info for operands of a verdict.
	Operator Operator `json:"operator"`
	// Value in the unit below.
	Value int64 `json:"value"`
	// Unit of value.
	Unit Unit `json:"unit"`
	// Source the value was read from; absent for values that were computed from the terms before.
	// +optional
	Source *SourceRef `json:"source,omitempty"`
	// Object that the value is a part of, where it was read from another one: a pod whose use a NodeMetric reports.
	// +optional
	Object *SourceRef `json:"object,omitempty"`
	// ObservedAt is when the source was measured or written; absent when the source has no time.
	// +optional
	ObservedAt *metav1.Time `json:"observedAt,omitempty"`
	// Note says in a few words what a reader cannot see from name and value.
	// +optional
	Note string `json:"note,omitempty"`
	// Parts are the values this one was made of, such as the pods of a sum, largest first.
	// +optional
	Parts []Term `json:"parts,omitempty"`
	// PartsOmitted counts the parts left out to bound the answer's size.
	// +optional
	PartsOmitted int32 `json:"partsOmitted,omitempty"`
}

// Waterfall is the trace of one number: terms applied in order, from a start to a result.
type Waterfall struct {
	// Resource the waterfall computes: kubernetes.io/batch-cpu and the like.
	Resource string `json:"resource"`
	// Unit of the result.
	Unit Unit `json:"unit"`
	// Policy is the calculate policy in force: usage, request, maxUsageRequest, static, degraded, disabled.
	Policy string `json:"policy"`
	// Terms in order of application; the last one is the result.
	Terms []Term `json:"terms"`
	// Result is the value of the last term.
	Result int64 `json:"result"`
	// Degraded is true when the inputs could not be trusted and the result was therefore set to zero.
	// +optional
	Degraded bool `json:"degraded,omitempty"`
	// Message is the same in one line of text.
	// +optional
	Message string `json:"message,omitempty"`
}

// Severity orders findings.
// +kubebuilder:validation:Enum=error;warning;info
type Severity string

const (
	// SeverityError is something that does not work.
	SeverityError Severity = "error"
	// SeverityWarning is something that works less well than it could.
	SeverityWarning Severity = "warning"
	// SeverityInfo is something worth knowing.
	SeverityInfo Severity = "info"
)

// Finding is one thing noticed while answering, with its code from the catalogue.
type Finding struct {
	// Code is the stable KOORDnnnn code.
	Code string `json:"code"`
	// Severity of the finding.
	Severity Severity `json:"severity"`
	// Message says what was found, in one sentence.
	Message string `json:"message"`
	// Hint is the next command or edit.
	// +optional
	Hint string `json:"hint,omitempty"`
	// Object the finding is about.
	// +optional
	Object *SourceRef `json:"object,omitempty"`
}

// Origin says who computed an answer and from what.
type Origin struct {
	// Component that answered: koord-scheduler, koord-manager, koordctl.
	Component string `json:"component"`
	// Instance is the identity of the process that answered.
	// +optional
	Instance string `json:"instance,omitempty"`
	// Leader is true when that process was the leader, so its in-memory state is the one that decides.
	// +optional
	Leader bool `json:"leader,omitempty"`
	// EvaluatedAt is when the answer was computed.
	EvaluatedAt metav1.Time `json:"evaluatedAt"`
	// DurationMicroseconds is how long the computation took.
	// +optional
	DurationMicroseconds int64 `json:"durationMicroseconds,omitempty"`
}
