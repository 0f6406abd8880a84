package nodefit

import (
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/decision/core/amount"
	"koordinator.sh/koord/decision/core/podrequest"
	"koordinator.sh/koord/decision/scheduling/refusals"
)

// Shortage is a resource that a node has too little of for a pod, in the units of amount.Of.
type Shortage struct {
	Node     string
	Resource corev1.ResourceName
	// Asked by the pod, Requested by the pods on the node, and what the node can allocate.
	Asked, Requested, Allocatable int64
	// RequestedUnknown is true when the pods on the node could not be read.
	RequestedUnknown bool
}

// Free is what is left on the node, at least nothing: a node may hold more than it has when its resources shrank.
func (s Shortage) Free() int64 { return max(0, s.Allocatable-s.Requested) }

// Reason of NodeResourcesFit.
func (s Shortage) Reason() string {
	if s.Resource == corev1.ResourcePods {
		return "Too many pods"
	}
	return "Insufficient " + string(s.Resource)
}

// Refusal of NodeResourcesFit.
func (s Shortage) Refusal() refusals.Refusal {
	reason := s.Reason()
	return refusals.Refusal{
		Plugin: NodeResourcesFit, Code: codes[NodeResourcesFit], Reason: reason, Phrase: s.phrase(reason),
		Distance: float64(s.Asked-s.Free()) / float64(max(s.Asked, 1)),
		Final:    s.Asked > s.Allocatable || s.RequestedUnknown,
		Describe: func() (string, []diagnosticsv1alpha1.Term) { return s.message(), s.operands() },
	}
}

func (s Shortage) phrase(reason string) string {
	if s.Resource == corev1.ResourcePods {
		return fmt.Sprintf("%s (%d of %d on %s)", reason, s.Requested, s.Allocatable, s.Node)
	}
	asked, left := amount.FormatPair(s.Resource, s.Asked, s.Free())
	return fmt.Sprintf("%s (requested %s, at most %s free, on %s)", reason, asked, left, s.Node)
}

func (s Shortage) message() string {
	if s.Resource == corev1.ResourcePods {
		return fmt.Sprintf("runs %d of at most %d pods", s.Requested, s.Allocatable)
	}
	asked, left := amount.FormatPair(s.Resource, s.Asked, s.Free())
	if s.RequestedUnknown {
		return fmt.Sprintf("needs %s %s, the node has %s", asked, amount.ShortName(s.Resource), left)
	}
	return fmt.Sprintf("needs %s %s, %s of %s free", asked, amount.ShortName(s.Resource), left, amount.Format(s.Resource, s.Allocatable))
}

// operands are named as everywhere: asked by the pod in question, requested by the pods on the node.
func (s Shortage) operands() []diagnosticsv1alpha1.Term {
	unit, info := amount.UnitOf(s.Resource), diagnosticsv1alpha1.Info
	asked := diagnosticsv1alpha1.Term{Name: "asked", Operator: info, Value: s.Asked, Unit: unit, Note: string(s.Resource)}
	allocatable := diagnosticsv1alpha1.Term{
		Name: "allocatable", Operator: info, Value: s.Allocatable, Unit: unit,
		Source: &diagnosticsv1alpha1.SourceRef{Kind: "Node", Name: s.Node, Field: "status.allocatable." + string(s.Resource)},
	}
	if s.RequestedUnknown {
		return []diagnosticsv1alpha1.Term{asked, allocatable}
	}
	return []diagnosticsv1alpha1.Term{
		asked,
		{Name: "free", Operator: info, Value: s.Allocatable - s.Requested, Unit: unit, Note: "allocatable - requested"},
		{Name: "requested", Operator: info, Value: s.Requested, Unit: unit, Note: "by the pods on the node"},
		allocatable,
	}
}

// shortages compares what a pod requests with what the pods of a node leave of it, one for each resource, and counts pods.
func shortages(in Input) []Shortage {
	var found []Shortage
	limit := in.Node.Status.Allocatable.Pods().Value()
	if count := int64(len(in.Pods)); !in.PodsUnknown && count >= limit {
		found = append(found, Shortage{Node: in.Node.Name, Resource: corev1.ResourcePods, Asked: 1, Requested: count, Allocatable: limit})
	}
	requested := requestedBy(in.Pods, in.Pod.Requests)
	for _, name := range slices.Sorted(maps.Keys(in.Pod.Requests)) {
		shortage := Shortage{
			Node: in.Node.Name, Resource: name, Asked: in.Pod.Requests[name], Requested: requested[name],
			Allocatable: amount.Of(name, in.Node.Status.Allocatable[name]), RequestedUnknown: in.PodsUnknown,
		}
		if shortage.Asked > shortage.Allocatable-shortage.Requested {
			found = append(found, shortage)
		}
	}
	return found
}

// requestedBy sums what pods request of some resources. The resources of the tiers come from podrequest, where every component
// takes them from; others, such as devices, from Kubernetes' own arithmetic.
func requestedBy(pods []*corev1.Pod, of map[corev1.ResourceName]int64) map[corev1.ResourceName]int64 {
	sum := map[corev1.ResourceName]int64{}
	others := slices.ContainsFunc(slices.Collect(maps.Keys(of)), func(name corev1.ResourceName) bool { return !tiered(name) })
	for _, pod := range pods {
		requests := podrequest.Of(pod).Requests
		sum[corev1.ResourceCPU] += requests.Plain.MilliCPU
		sum[corev1.ResourceMemory] += requests.Plain.Memory
		sum[extension.BatchCPU] += requests.Batch.MilliCPU
		sum[extension.BatchMemory] += requests.Batch.Memory
		sum[extension.MidCPU] += requests.Mid.MilliCPU
		sum[extension.MidMemory] += requests.Mid.Memory
		if !others {
			continue
		}
		for name, quantity := range RequestsOf(pod) {
			if !tiered(name) {
				sum[name] += amount.Of(name, quantity)
			}
		}
	}
	return sum
}

func tiered(name corev1.ResourceName) bool {
	switch name {
	case corev1.ResourceCPU, corev1.ResourceMemory, extension.BatchCPU, extension.BatchMemory, extension.MidCPU, extension.MidMemory:
		return true
	}
	return false
}
