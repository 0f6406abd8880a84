package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// GangState is how a gang fares, in one word.
type GangState string

const (
	// GangInvalid is a gang whose rules cannot be read or do not exist.
	GangInvalid GangState = "Invalid"
	// GangFailed is a gang of which a member failed.
	GangFailed GangState = "Failed"
	// GangBlocked is a gang with members that the scheduler refuses.
	GangBlocked GangState = "Blocked"
	// GangShort has fewer members than must run together.
	GangShort GangState = "Short"
	// GangScheduling waits for nodes.
	GangScheduling GangState = "Scheduling"
	// GangScheduled has nodes.
	GangScheduled GangState = "Scheduled"
	// GangRunning runs.
	GangRunning GangState = "Running"
	// GangFinished has succeeded.
	GangFinished GangState = "Finished"
)

// GangExplanation says how far a gang is, what it waits for and what comes next: `koordctl explain gang`.
//
// +kubebuilder:object:root=true
type GangExplanation struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// State of the gang, Summary of it in a sentence, and Next what happens next; a gang that is done has no next step.
	State   GangState `json:"state"`
	Summary string    `json:"summary"`
	// +optional
	Next string `json:"next,omitempty"`
	// Phase of the PodGroup that follows from its pods.
	Phase string `json:"phase"`
	// Rules of the gang; absent where they cannot be seen.
	// +optional
	Rules *GangRules `json:"rules,omitempty"`
	// Counts of the members.
	Counts GangCounts `json:"counts"`
	// Causes are why members have no node, the most frequent first; those that follow from another member come last.
	// +optional
	Causes []GangCause `json:"causes,omitempty"`
	// ScheduleStartTime is when scheduling began, where that is recorded.
	// +optional
	ScheduleStartTime *metav1.Time `json:"scheduleStartTime,omitempty"`
	// OccupiedBy are the owners of the members.
	// +optional
	OccupiedBy string `json:"occupiedBy,omitempty"`
	// Members by name.
	// +optional
	Members []GangMember `json:"members,omitempty"`
	// Incomplete names what could not be seen, and why; empty when the answer is whole.
	// +optional
	Incomplete []string `json:"incomplete,omitempty"`
}

// GangExplanationList is what `koordctl tree gang -o json` prints; gangs that start together follow each other.
//
// +kubebuilder:object:root=true
type GangExplanationList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []GangExplanation `json:"items"`
	// Incomplete names what could not be seen, and why; empty when the list is whole.
	// +optional
	Incomplete []string `json:"incomplete,omitempty"`
}

// GangRules are what a PodGroup, or the annotations of pods, ask for.
type GangRules struct {
	// From is what the rules were read from.
	From string `json:"from"`
	// MinMember must run together.
	MinMember int32 `json:"minMember"`
	// Mode is Strict or NonStrict.
	Mode string `json:"mode"`
	// MatchPolicy says which members count.
	MatchPolicy string `json:"matchPolicy"`
	// WaitSeconds is how long members with a node wait for the others.
	WaitSeconds int64 `json:"waitSeconds"`
	// Group are the gangs that start together, this one included, as NAMESPACE/NAME.
	// +optional
	Group []string `json:"group,omitempty"`
	// NetworkTopology says how close in the network the members must be, a rule for each layer.
	// +optional
	NetworkTopology []GangTopologyRule `json:"networkTopology,omitempty"`
}

// GangTopologyRule is the rule for one layer of the network.
type GangTopologyRule struct {
	Layer string `json:"layer"`
	// Strategy is MustGather or PreferGather.
	Strategy string `json:"strategy"`
}

// GangCounts count the members of a gang.
type GangCounts struct {
	// Needed must run together; 0 where that is not known. Created exist, Waiting have no node, Bound have one.
	Needed    int32 `json:"needed"`
	Created   int32 `json:"created"`
	Waiting   int32 `json:"waiting"`
	Bound     int32 `json:"bound"`
	Running   int32 `json:"running"`
	Succeeded int32 `json:"succeeded"`
	Failed    int32 `json:"failed"`
}

// GangCause is one reason why members have no node.
type GangCause struct {
	// Message of the scheduler, and how many members it concerns.
	Message string `json:"message"`
	Members int32  `json:"members"`
	// Follows is true where the members were refused because another one was.
	// +optional
	Follows bool `json:"follows,omitempty"`
}

// GangMember is a pod of a gang.
type GangMember struct {
	Name string `json:"name"`
	// +optional
	NodeName string `json:"nodeName,omitempty"`
	Phase    string `json:"phase"`
	// Refusal is why it has no node, as the scheduler says; empty where it does not say.
	// +optional
	Refusal string `json:"refusal,omitempty"`
}
