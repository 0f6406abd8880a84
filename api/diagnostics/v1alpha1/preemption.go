package v1alpha1

// PreemptionVerdict is preemption, in one word.
//
// +kubebuilder:validation:Enum=Evicts;Waits;Helpless;NotAllowed
type PreemptionVerdict string

const (
	// PreemptionEvicts means that the scheduler would evict pods, and nominate the pod to their node.
	PreemptionEvicts PreemptionVerdict = "Evicts"
	// PreemptionWaits means that pods are being evicted for the pod already.
	PreemptionWaits PreemptionVerdict = "Waits"
	// PreemptionHelpless means that the evictions that are allowed would make no node pass.
	PreemptionHelpless PreemptionVerdict = "Helpless"
	// PreemptionNotAllowed means that the pod's preemption policy forbids it.
	PreemptionNotAllowed PreemptionVerdict = "NotAllowed"
)

// Preemption is what the scheduler's preemption would do for a pending pod. It was tried on a copy of the cluster; nothing
// is evicted for an answer.
type Preemption struct {
	// Verdict in one word.
	Verdict PreemptionVerdict `json:"verdict"`
	// Message is the verdict in one sentence.
	Message string `json:"message"`
	// Plugin that would evict: DefaultPreemption, or one that comes before it.
	// +optional
	Plugin string `json:"plugin,omitempty"`
	// NodeName is the node to which the pod would be, or is, nominated.
	// +optional
	NodeName string `json:"nodeName,omitempty"`
	// Victims are the pods that would be evicted, the most important first.
	// +optional
	Victims []PreemptionVictim `json:"victims,omitempty"`
	// BudgetViolations counts the victims that a PodDisruptionBudget protects. They are evicted only where nothing else helps.
	// +optional
	BudgetViolations int64 `json:"budgetViolations,omitempty"`
	// NodesTried counts the nodes on which evictions were tried.
	NodesTried int32 `json:"nodesTried"`
	// NodesHelped counts those of them that would pass.
	NodesHelped int32 `json:"nodesHelped"`
	// Declined lists the plugins that ran before this one, in order, and why they do not evict pods.
	// +optional
	Declined []PreemptionDecline `json:"declined,omitempty"`
	// Refusals are what keeps the other nodes from passing, also without all pods that may be evicted; most nodes first.
	// +optional
	Refusals []PreemptionRefusal `json:"refusals,omitempty"`
}

// PreemptionVictim is a pod that would be evicted, or a Reservation that would end.
type PreemptionVictim struct {
	// ReservationName is the Reservation that the victim stands for; empty for a pod of the cluster.
	// +optional
	ReservationName string `json:"reservationName,omitempty"`
	Namespace       string `json:"namespace"`
	Name            string `json:"name"`
	// Priority of the victim.
	Priority int32 `json:"priority"`
}

// PreemptionDecline is a plugin that does not evict pods for the pod.
type PreemptionDecline struct {
	// Plugin that was asked.
	Plugin string `json:"plugin"`
	// Message says why it does not evict pods, in one sentence.
	Message string `json:"message"`
}

// PreemptionRefusal is one reason why evictions do not help, with the number of nodes.
type PreemptionRefusal struct {
	// Plugin that still refuses; empty when preemption itself has nothing to evict or does not try.
	// +optional
	Plugin string `json:"plugin,omitempty"`
	// Code of the reason; empty without a plugin.
	// +optional
	Code string `json:"code,omitempty"`
	// Reason is the plugin's own text.
	Reason string `json:"reason"`
	// Count of nodes.
	Count int32 `json:"count"`
}
