package configuration

import (
	corev1 "k8s.io/api/core/v1"

	"koordinator.sh/koord/decision/scheduling/loadaware"
)

// Input is everything a configuration is judged by. Nothing in it is modified.
type Input struct {
	// Data of the ConfigMap.
	Data map[string]string
	// Nodes of the cluster. Without any, overlaps and what selects nothing are judged by the selectors alone.
	Nodes []*corev1.Node
	// LoadAware is the scheduler's arguments; nil stands for their defaults.
	LoadAware *loadaware.Args
	// Features of the node agent by name; nil when unknown, and then nothing is said about them.
	Features map[string]bool
}
