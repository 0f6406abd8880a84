package amplification

import (
	corev1 "k8s.io/api/core/v1"

	"koordinator.sh/koord/decision/core/configmerge"
)

// Input is everything the ratios of one node depend on. Nothing in it is modified.
type Input struct {
	// Node as the API server has it.
	Node *corev1.Node
	// Strategy in force on the node.
	Strategy configmerge.Amplification
	// NormalizationPercent is what one cpu of the node is worth, in percent of the reference.
	NormalizationPercent int64
}
