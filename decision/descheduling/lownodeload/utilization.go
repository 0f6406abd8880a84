package lownodeload

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// Utilization configures the decision as LowNodeUtilization of sigs.k8s.io/descheduler.
type Utilization struct {
	Thresholds, TargetThresholds Thresholds
	UseDeviationThresholds       bool
	NumberOfNodes                int
	ExcludedNamespaces           []string
	// PerNode is how many pods may leave a node in a pass; 0 is no limit.
	PerNode uint
}

// CompileUtilization makes a policy that decides as LowNodeUtilization does. The usage of a node is what its pods request; cpu, memory and
// pods without a threshold are full at 100 %; and pods leave by priority and Kubernetes QoS class alone, when they tolerate the taints of
// any underutilized node.
func CompileUtilization(from Utilization) *Policy {
	names := map[corev1.ResourceName]bool{corev1.ResourceCPU: true, corev1.ResourceMemory: true, corev1.ResourcePods: true}
	for name := range from.Thresholds {
		names[name] = true
	}
	compiled := pool{name: DefaultPool, selector: labels.Everything(), deviation: from.UseDeviationThresholds, resources: slices.Sorted(maps.Keys(names))}
	for _, name := range compiled.resources {
		low, lowSet := from.Thresholds[name]
		high, highSet := from.TargetThresholds[name]
		if !lowSet || !highSet {
			low, high = unset, unset
		}
		compiled.low.node, compiled.high.node = append(compiled.low.node, low), append(compiled.high.node, high)
		compiled.weights = append(compiled.weights, 1)
	}
	return &Policy{
		numberOfNodes: from.NumberOfNodes, exclude: setOf(from.ExcludedNamespaces), pools: []pool{compiled}, requests: true, perNode: from.PerNode,
	}
}
