package reason

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/finding"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
)

// Subject is what a refusal is about on one node.
type Subject struct {
	// Code of the refusal in the catalogue of findings.
	Code finding.Code
	// Key distinguishes refusals with the same text, such as two taints.
	Key string
	// Phrase says it in a summary, after the number of nodes: "had insufficient batch-cpu". Of a refusal of PreFilter, which is about
	// the pod, it stands without a number: "quota team-a has insufficient cpu".
	Phrase string
	// Distance orders nodes by how far they are from passing: 0 for nearly, 1 and more for far.
	Distance float64
	// Mentions are all objects that the reason and the message name, beside the pod and the node: callers without the right to get one
	// of them are shown neither.
	Mentions []diagnosticsv1alpha1.SourceRef
	// ReasonMentions are those that the reason names; none where it names all of them.
	ReasonMentions []diagnosticsv1alpha1.SourceRef
	// Describe makes the message and the operands. It is called for the few nodes that are listed, after the scheduling
	// state it was made from; it must hold what it needs.
	Describe func() (message string, operands []diagnosticsv1alpha1.Term)
}

// Explainer is a plugin that knows what its refusals are about.
type Explainer interface {
	fwk.Plugin
	// ExplainRefusal repeats the decision behind one reason of a status that PreFilter or Filter returned for the node, with
	// a trace. It returns false for a reason that is not its own. The node is the one that Filter saw, state is the one that
	// PreFilter filled. It must be safe for concurrent use.
	ExplainRefusal(ctx context.Context, state fwk.CycleState, pod *corev1.Pod, node fwk.NodeInfo, reason string) (Subject, bool)
}

// Introducer is a plugin with statuses whose first reason only introduces another one: two texts for one refusal.
type Introducer interface {
	fwk.Plugin
	// Introduces reports whether a reason only introduces the others of its status. It must be safe for concurrent use.
	Introduces(reason string) bool
}

// Coder is a plugin that names the code of its reasons from their text alone, for attempts whose state is gone.
type Coder interface {
	fwk.Plugin
	// CodeOf returns the code of a reason of a status that PreFilter, Filter or Reserve returned, or of Exclusion; empty for a
	// text that is not its own. It must be safe for concurrent use.
	CodeOf(reason string) finding.Code
}

// GateExplainer is a PreEnqueue plugin that knows why it keeps a pod out of the queue.
type GateExplainer interface {
	fwk.Plugin
	// ExplainGate repeats the decision behind a refusal of PreEnqueue, with a trace. It returns false for a pod that may be
	// queued. It must be safe for concurrent use.
	ExplainGate(ctx context.Context, pod *corev1.Pod) (Subject, bool)
}

// Preemptor is a PostFilter plugin that evicts pods under its own rules, and knows which pods they spare.
type Preemptor interface {
	fwk.Plugin
	// MayPreempt reports whether the plugin looks for victims of the pod at all, and if not, why; without a reason the plugin is
	// not responsible for the pod. PostFilter begins with it.
	MayPreempt(pod *corev1.Pod) (may bool, why string)
	// Spared says why no pod of the cluster may be evicted for this one, empty when some may. Like MayPreempt, it must be safe
	// for concurrent use.
	Spared(pod *corev1.Pod) string
}

// Change is one proposal to make a pod schedulable. It is tried by running the whole chain again with it applied.
type Change struct {
	// Cost ranks proposals: 1 is a label of the pod itself, 10 an edit of a shared object, 100 the loss of running work.
	Cost float64
	// Fix as it is published when it proves right; the number of nodes is filled in by the trial. Its steps and mentions are all objects
	// that it names.
	Fix diagnosticsv1alpha1.Fix
	// Pod replaces the pod, nil when it stays.
	Pod *corev1.Pod
	// EditNode edits the node that the fix names, nil when it stays. It is called for each trial, with the node as other changes
	// left it.
	EditNode func(node *corev1.Node)
	// EditMetric edits the NodeMetric of the node that the fix names, nil when it stays. The node is there as other changes left it.
	EditMetric func(metric *slov1alpha1.NodeMetric, node fwk.NodeInfo)
	// Evict takes these pods off their nodes.
	Evict []*corev1.Pod
	// Object replaces an object of a custom resource that belongs to no node (an ElasticQuota, a PodGroup), nil when all stay.
	Object any
}

// Adviser is a plugin that can propose how to lift its refusals.
type Adviser interface {
	fwk.Plugin
	// Advise proposes changes that may lift the reasons for which this plugin refuses the pod on the node; none when nothing
	// that it knows of would. It must be safe for concurrent use.
	Advise(ctx context.Context, state fwk.CycleState, pod *corev1.Pod, node fwk.NodeInfo, reasons []string) []Change
}
