package objects

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
)

// evictionLimits count the evictions of one round over all plugins.
type evictionLimits struct {
	config     *Descheduler
	total      int64
	nodes      map[string]int64
	namespaces map[string]int64
}

func newEvictionLimits(config *Descheduler) *evictionLimits {
	return &evictionLimits{config: config, nodes: map[string]int64{}, namespaces: map[string]int64{}}
}

// take counts an eviction, or says which limit is reached and whether it is that of the node.
func (l *evictionLimits) take(pod *corev1.Pod) (reached string, node bool) {
	full := func(count int64, limit *int64) bool { return limit != nil && count >= *limit }
	switch {
	case full(l.total, l.config.MaxTotal):
		return fmt.Sprintf("maxNoOfPodsToEvictTotal %d of a round is reached", *l.config.MaxTotal), false
	case full(l.nodes[pod.Spec.NodeName], l.config.MaxPerNode):
		return fmt.Sprintf("maxNoOfPodsToEvictPerNode %d of a round is reached", *l.config.MaxPerNode), true
	case full(l.namespaces[pod.Namespace], l.config.MaxPerNamespace):
		return fmt.Sprintf("maxNoOfPodsToEvictPerNamespace %d of a round is reached", *l.config.MaxPerNamespace), false
	}
	l.total++
	l.nodes[pod.Spec.NodeName]++
	l.namespaces[pod.Namespace]++
	return "", false
}
