package nodevalidation

import (
	corev1 "k8s.io/api/core/v1"
)

// Input is everything that decides about one node. Nothing in it is modified.
type Input struct {
	// Node as it is to be.
	Node *corev1.Node
	// Old is the node as it was; nil when it is created.
	Old *corev1.Node
}
