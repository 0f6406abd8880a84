package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// PodExplanation asks why a pod is pending, or why it runs where it runs. Create-only.
//
// +kubebuilder:object:root=true
type PodExplanation struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec PodExplanationSpec `json:"spec"`
	// +optional
	Status PodExplanationStatus `json:"status,omitempty"`
}

// PodExplanationList is a list of PodExplanation.
//
// +kubebuilder:object:root=true
type PodExplanationList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []PodExplanation `json:"items"`
}

// PodExplanationSpec is the question.
type PodExplanationSpec struct {
	// PodName is the pod's name, in the explanation's own namespace.
	// +optional
	PodName string `json:"podName,omitempty"`
	// ReservationName explains a Reservation instead of a pod: on which node its resources would be reserved, or why
	// none. Exactly one of the two is set.
	// +optional
	ReservationName string `json:"reservationName,omitempty"`
	// MaxNodes bounds the nodes listed one by one in each group; default 5, at most 5000.
	// +optional
	MaxNodes *int32 `json:"maxNodes,omitempty"`
	// SkipFix leaves out the search for the smallest change, and preemption.
	// +optional
	SkipFix bool `json:"skipFix,omitempty"`
	// History adds the past attempts that the scheduler remembers, of the pod and of its workload.
	// +optional
	History bool `json:"history,omitempty"`
}

// PodVerdict is the answer in one word.
//
// +kubebuilder:validation:Enum=Bound;Schedulable;Unschedulable;Gated;NotResponsible;Finished;Unknown
type PodVerdict string

const (
	// PodBound means the pod has a node; the placement says why this one.
	PodBound PodVerdict = "Bound"
	// PodSchedulable means at least one node passes every filter now.
	PodSchedulable PodVerdict = "Schedulable"
	// PodUnschedulable means no node passes every filter.
	PodUnschedulable PodVerdict = "Unschedulable"
	// PodGated means a scheduling gate or a PreEnqueue plugin keeps the pod out of the queue.
	PodGated PodVerdict = "Gated"
	// PodNotResponsible means the pod names another scheduler.
	PodNotResponsible PodVerdict = "NotResponsible"
	// PodFinished means the pod has succeeded or failed.
	PodFinished PodVerdict = "Finished"
	// PodUnknown means that what decides could not be read.
	PodUnknown PodVerdict = "Unknown"
)

// PodExplanationStatus is the answer.
type PodExplanationStatus struct {
	// Verdict in one word.
	Verdict PodVerdict `json:"verdict"`
	// Summary is one sentence: the verdict and its dominant reason.
	Summary string `json:"summary"`
	// Code of the dominant reason; empty when the pod is bound or schedulable.
	// +optional
	Code string `json:"code,omitempty"`
	// Pod repeats what the scheduler saw of the pod.
	Pod PodFacts `json:"pod"`
	// NodesTotal counts the nodes that were evaluated.
	NodesTotal int32 `json:"nodesTotal"`
	// NodesFeasible counts the nodes that passed every filter.
	NodesFeasible int32 `json:"nodesFeasible"`
	// NodesUnknown counts the nodes that no filter refused and some filter could not judge, because what it looks at could not
	// be read. They are neither feasible nor refused.
	// +optional
	NodesUnknown int32 `json:"nodesUnknown,omitempty"`
	// Groups are the refusals, one group per plugin and reason, most nodes first. A node that several plugins refuse is
	// counted in several groups, because no filter stops at the first refusal here.
	// +optional
	Groups []RefusalGroup `json:"groups,omitempty"`
	// Reservations are those that the pod is an owner of, and what became of each; absent for a pod that owns none.
	// +optional
	Reservations *ReservationCensus `json:"reservations,omitempty"`
	// Fix is the smallest change found that makes the pod schedulable, among those that the caller may make.
	// +optional
	Fix *Fix `json:"fix,omitempty"`
	// FixBeyondRights is a smaller change that the caller may not make, or one where no change was found that the caller may make.
	// +optional
	FixBeyondRights *FixBeyondRights `json:"fixBeyondRights,omitempty"`
	// Preemption is what evicting less important pods would do for a pod that fits no node.
	// +optional
	Preemption *Preemption `json:"preemption,omitempty"`
	// Placement says why this node, for a pod that is bound or schedulable.
	// +optional
	Placement *Placement `json:"placement,omitempty"`
	// History are past attempts, oldest first, when spec.history asks for them. The scheduler keeps the first and the latest
	// attempts of the pods it attempted last, in memory.
	// +optional
	History []SchedulingAttempt `json:"history,omitempty"`
	// Siblings are the last attempts of other pods of the same workload, latest first, when spec.history asks for them.
	// +optional
	Siblings []SiblingAttempt `json:"siblings,omitempty"`
	// Findings noticed on the way.
	// +optional
	Findings []Finding `json:"findings,omitempty"`
	// Unknown names the inputs that could not be read; empty when all were.
	// +optional
	Unknown []UnknownInput `json:"unknown,omitempty"`
	// Incomplete names what could not be seen or evaluated, and why; empty when the answer is whole.
	// +optional
	Incomplete []string `json:"incomplete,omitempty"`
	// Withheld counts the objects that the answer would name if the caller could get them. Verdict and counts are of the whole cluster
	// all the same.
	// +optional
	Withheld []Withheld `json:"withheld,omitempty"`
	// Origin of the answer.
	Origin Origin `json:"origin"`
}

// PodFacts are the facts about a pod that the scheduler has.
type PodFacts struct {
	// ReservationName is the Reservation that the pod stands for; empty for a pod of the cluster.
	// +optional
	ReservationName string `json:"reservationName,omitempty"`
	Namespace       string `json:"namespace"`
	Name            string `json:"name"`
	// QoSClass is LSE, LSR, LS, BE or SYSTEM; derived from the Kubernetes QoS class when the label is absent.
	QoSClass string `json:"qosClass,omitempty"`
	// PriorityBand is koord-prod, koord-mid, koord-batch, koord-free or empty.
	PriorityBand string `json:"priorityBand,omitempty"`
	// Priority is the pod's priority value.
	// +optional
	Priority *int32 `json:"priority,omitempty"`
	// SchedulerName the pod asks for.
	SchedulerName string `json:"schedulerName,omitempty"`
	// NodeName the pod is bound to.
	// +optional
	NodeName string `json:"nodeName,omitempty"`
	// Phase of the pod.
	Phase corev1.PodPhase `json:"phase,omitempty"`
	// CreatedAt is the pod's creation time.
	// +optional
	CreatedAt *metav1.Time `json:"createdAt,omitempty"`
	// Requests the scheduler accounts for, overhead and init containers included.
	// +optional
	Requests corev1.ResourceList `json:"requests,omitempty"`
	// EstimatedUsage is what load-aware scheduling expects the pod to use.
	// +optional
	EstimatedUsage corev1.ResourceList `json:"estimatedUsage,omitempty"`
	// Hint is the scheduling hint of the pod; absent for a pod without one.
	// +optional
	Hint *PodHint `json:"hint,omitempty"`
}

// RefusalGroup is one reason with the nodes that gave it.
type RefusalGroup struct {
	// Plugin that refused.
	Plugin string `json:"plugin"`
	// Code of the reason.
	Code string `json:"code"`
	// Reason is the text of the plugin, as in events.
	Reason string `json:"reason"`
	// Introduction is another text in events for the same nodes that adds nothing to the reason.
	// +optional
	Introduction string `json:"introduction,omitempty"`
	// Class orders reasons by what helps: misconfig, agent, conflict, pod, state, quota, topology, load, capacity, waiting.
	Class string `json:"class"`
	// Message is the reason with the operands of the node closest to passing.
	Message string `json:"message"`
	// Count of nodes.
	Count int32 `json:"count"`
	// Sole counts the nodes that only this group refuses.
	Sole int32 `json:"sole"`
	// PreemptionMayHelp is false when evicting pods cannot change the refusal.
	PreemptionMayHelp bool `json:"preemptionMayHelp"`
	// Mentions are the objects that reason and message name: quotas, pods and PodGroups, reservations. One without a name stands for any
	// of its kind.
	// +optional
	Mentions []SourceRef `json:"mentions,omitempty"`
	// ReasonMentions are those of them that the reason names; absent where it names all, or none.
	// +optional
	ReasonMentions []SourceRef `json:"reasonMentions,omitempty"`
	// Nodes closest to passing first, bounded by spec.maxNodes.
	// +optional
	Nodes []NodeRefusal `json:"nodes,omitempty"`
}

// NodeRefusal is one node's refusal with the numbers behind it.
type NodeRefusal struct {
	Node string `json:"node"`
	// Message with this node's operands.
	Message string `json:"message"`
	// Operands of the verdict.
	// +optional
	Operands []Term `json:"operands,omitempty"`
	// Others counts the other groups that refuse this node too.
	// +optional
	Others int32 `json:"others,omitempty"`
}

// ReservationCensus counts the active reservations that a pod is an owner of.
type ReservationCensus struct {
	// Matched counts all of them.
	Matched int32 `json:"matched"`
	// Refusals are the reasons for which the pod cannot use them, most reservations first. Those that it can use are in none.
	// +optional
	Refusals []ReservationRefusal `json:"refusals,omitempty"`
}

// ReservationRefusal is one reason with the reservations that a pod cannot use for it.
type ReservationRefusal struct {
	// Code of the reason.
	Code string `json:"code"`
	// Reason is the scheduler's own text, as it stands in events after the number of reservations.
	Reason string `json:"reason"`
	// Count of reservations.
	Count int32 `json:"count"`
	// Names of reservations in order, bounded by spec.maxNodes.
	// +optional
	Names []string `json:"names,omitempty"`
}

// FixTarget says whose edit a fix is.
//
// +kubebuilder:validation:Enum=Pod;Cluster
type FixTarget string

const (
	// FixPod is an edit of the pod.
	FixPod FixTarget = "Pod"
	// FixCluster is an edit of a node, a configuration or another pod.
	FixCluster FixTarget = "Cluster"
)

// Fix is a change after which the pod is schedulable: a single one, or two together where no single one helps.
type Fix struct {
	Target FixTarget `json:"target"`
	// Kind of change: reduceRequest, addToleration, removeNodeSelector, uncordon, evictPod, raiseThreshold,
	// refreshNodeMetric, and those that plugins propose. Two changes are joined by a plus sign.
	Kind string `json:"kind"`
	// Description is one sentence with the numbers.
	Description string `json:"description"`
	// Command applies the change, as far as kubectl can: the commands of the steps. For a pod that must be recreated,
	// it changes the pod template of the owner, if that is known.
	// +optional
	Command string `json:"command,omitempty"`
	// Steps are the single requests that the command makes, in order.
	// +optional
	Steps []FixStep `json:"steps,omitempty"`
	// Recreate is true when an existing pod cannot be changed this way and must be recreated.
	// +optional
	Recreate bool `json:"recreate,omitempty"`
	// Owner is the controller of a pod that must be recreated, as KIND/NAME: change its pod template.
	// +optional
	Owner string `json:"owner,omitempty"`
	// Manifest of a pod without a controller that must be recreated, with the change made; for kubectl replace --force.
	// +optional
	Manifest string `json:"manifest,omitempty"`
	// Mentions are the objects that the description names, beside the pod itself.
	// +optional
	Mentions []SourceRef `json:"mentions,omitempty"`
	// PodName is the pod that the fix is about, as NAMESPACE/NAME, where it is not the one that was asked about: a member of the
	// same gang that finds no node.
	// +optional
	PodName string `json:"podName,omitempty"`
	// Node that becomes feasible; empty when the caller may not get it.
	Node string `json:"node"`
	// NodesUnlocked counts the nodes that become feasible.
	NodesUnlocked int32 `json:"nodesUnlocked"`
	// Verified is true when the whole chain was run again with the change applied and passed. The workbench takes that back when the
	// API server refuses one of the steps in a dry run.
	Verified bool `json:"verified"`
	// DryRun is what the API server says to the steps and the manifest, asked by the workbench as the user that it runs for; absent
	// where nothing was asked.
	// +optional
	DryRun *FixDryRun `json:"dryRun,omitempty"`
}

// FixStep is one request of a fix, with the command that makes it.
type FixStep struct {
	// Command of kubectl.
	Command string `json:"command"`
	// Verb of the request as RBAC names it: patch or delete. Empty for a command that a person has to finish, such as edit, which
	// requires permission to patch the object.
	// +optional
	Verb string `json:"verb,omitempty"`
	// Group of the object's API; empty for the core group.
	// +optional
	Group string `json:"group,omitempty"`
	// Version of the object's API.
	Version string `json:"version"`
	// Resource of the object in the plural.
	Resource string `json:"resource"`
	// Namespace of the object; empty for one without.
	// +optional
	Namespace string `json:"namespace,omitempty"`
	// Name of the object.
	Name string `json:"name"`
	// PatchType is the media type of the patch; empty for a request without one.
	// +optional
	PatchType string `json:"patchType,omitempty"`
	// Patch that is sent.
	// +optional
	Patch string `json:"patch,omitempty"`
}

// DryRunVerdict is what the API server says to a request that is not carried out.
// +enum
type DryRunVerdict string

const (
	// DryRunAccepted is a request that would be carried out.
	DryRunAccepted DryRunVerdict = "Accepted"
	// DryRunRefused is a request that validation or admission refuses.
	DryRunRefused DryRunVerdict = "Refused"
	// DryRunForbidden is a request that the user may not make.
	DryRunForbidden DryRunVerdict = "Forbidden"
	// DryRunUnknown is a request that could not be tried.
	DryRunUnknown DryRunVerdict = "Unknown"
)

// FixDryRun is what the API server says to a fix.
type FixDryRun struct {
	// Verdict over all requests: the first of Refused, Forbidden and Unknown that one of them has, or else Accepted.
	Verdict DryRunVerdict `json:"verdict"`
	// Requests in the order in which they would be made.
	Requests []FixRequest `json:"requests,omitempty"`
}

// FixRequest is one request of a fix that was tried.
type FixRequest struct {
	// Right that the request needs: verb, resource and namespace, such as "patch elasticquotas.scheduling.sigs.k8s.io in namespace shop".
	Right string `json:"right"`
	// Verdict of the API server.
	Verdict DryRunVerdict `json:"verdict"`
	// Message says why the request is not accepted.
	// +optional
	Message string `json:"message,omitempty"`
}

// Placement says why a node was, or would be, chosen.
type Placement struct {
	// Node the pod runs on or would run on; empty when the caller may not get it.
	Node string `json:"node"`
	// Rank of that node among the feasible ones now, from 1; 0 when it would not pass the filters now.
	Rank int32 `json:"rank"`
	// Scores of the node and of the runners-up, best first, bounded by spec.maxNodes.
	Scores []NodeScore `json:"scores,omitempty"`
	// Note says what differs from the moment of the decision.
	// +optional
	Note string `json:"note,omitempty"`
}

// NodeScore is one node's score with the plugins' shares.
type NodeScore struct {
	Node string `json:"node"`
	// Total is the sum over the plugins, weights applied.
	Total int64 `json:"total"`
	// Plugins with their weighted scores, largest first.
	Plugins []PluginScore `json:"plugins,omitempty"`
}

// PluginScore is one plugin's share of a node's score.
type PluginScore struct {
	Plugin string `json:"plugin"`
	// Score after normalisation and weight.
	Score int64 `json:"score"`
	// Weight of the plugin in the profile.
	Weight int32 `json:"weight,omitempty"`
}
