package refusals

import (
	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/finding"
)

// Refusal is one reason for which a plugin keeps a pod off a node.
type Refusal struct {
	Plugin string
	// Reason is the plugin's own text, as it stands in events, and Introduction one of the same status that says nothing beside it.
	Reason, Introduction string
	Code                 finding.Code
	// Key distinguishes refusals with the same reason, such as two taints.
	Key string
	// Phrase says it in a summary, after the number of nodes: "had untolerated taint gpu:NoSchedule". One that begins with the
	// reason stands there as the reason does: "Insufficient cpu (requested 4, ...)".
	Phrase string
	// Distance orders nodes by how far they are from passing: 0 for nearly, 1 and more for far.
	Distance float64
	// Final is true when evicting pods cannot lift the refusal.
	Final bool
	// Everywhere is true for what refuses the pod whatever the node.
	Everywhere bool
	// Mentions are the objects that reason and message name, beside the pod and the node; ReasonMentions those that the reason
	// names, none where it names all of them.
	Mentions, ReasonMentions []diagnosticsv1alpha1.SourceRef
	// Describe makes the message and the operands. It is called for the few nodes that are listed.
	Describe func() (message string, operands []diagnosticsv1alpha1.Term)
}
