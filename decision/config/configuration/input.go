package configuration

import (
	corev1 "k8s.io/api/core/v1"

	"koordinator.sh/koord/decision/descheduling/loopguard"
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
	// Descheduler is what koord-descheduler moves pods by, one for each set of thresholds; none when it is not installed or not known.
	Descheduler []Descheduler
	// Features of the node agent by name; nil when unknown, and then nothing is said about them.
	Features map[string]bool
}

// Descheduler is one set of thresholds of koord-descheduler with the nodes that it is for.
type Descheduler struct {
	loopguard.Descheduler
	// Selects says whether it is for a node; nil is for all.
	Selects func(*corev1.Node) bool
}
