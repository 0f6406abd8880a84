package normalization

import (
	corev1 "k8s.io/api/core/v1"

	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/decision/core/configmerge"
)

// Input is everything the ratio of one node depends on. Nothing in it is modified.
type Input struct {
	// Node as the API server has it.
	Node *corev1.Node
	// CPU as the node agent reported it; nil when it did not.
	CPU *extension.CPUBasicInfo
	// Unknown says why CPU is nil.
	Unknown string
	// Strategy in force on the node.
	Strategy configmerge.Normalization
}
