package objects

import (
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	resourcehelper "k8s.io/component-helpers/resource"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/api/finding"
	"koordinator.sh/koord/decision/core/podrequest"
)

// demand is what the pod in question asks of every resource; amounts are milliCPU for cpu, else the resource's own unit.
type demand map[corev1.ResourceName]int64

func demandOf(pod *corev1.Pod) demand {
	d := demand{}
	for name, quantity := range requestsOf(pod) {
		if value := amount(name, quantity); value > 0 {
			d[name] = value
		}
	}
	return d
}

func requestsOf(pod *corev1.Pod) corev1.ResourceList {
	return resourcehelper.PodRequests(pod, resourcehelper.PodResourcesOptions{})
}

func amount(name corev1.ResourceName, quantity resource.Quantity) int64 {
	if name == corev1.ResourceCPU {
		return quantity.MilliValue()
	}
	return quantity.Value()
}

// held is what the pods of a node request of the resources in demand. The resources of the tiers come from podrequest,
// where every component takes them from; others, such as devices, from Kubernetes' own arithmetic.
func (d demand) held(on *onNode) demand {
	sum := demand{}
	others := slices.ContainsFunc(slices.Collect(maps.Keys(d)), func(name corev1.ResourceName) bool { return !tiered(name) })
	for _, pod := range on.pods {
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
		for name, quantity := range requestsOf(pod) {
			if !tiered(name) {
				sum[name] += amount(name, quantity)
			}
		}
	}
	return sum
}

func tiered(name corev1.ResourceName) bool {
	switch name {
	case corev1.ResourceCPU, corev1.ResourceMemory, extension.BatchCPU, extension.BatchMemory, extension.MidCPU, extension.MidMemory:
		return true
	default:
		return false
	}
}

// fit compares requests with what is left of allocatable, one refusal a resource, and counts pods.
func (d demand) fit(node *corev1.Node, on *onNode) []refusal {
	var refusals []refusal
	held := d.held(on)
	for _, name := range slices.Sorted(maps.Keys(d)) {
		quantity := node.Status.Allocatable[name]
		allocatable := amount(name, quantity)
		free := allocatable - held[name]
		if d[name] <= free {
			continue
		}
		refusals = append(refusals, refusal{
			plugin: "NodeResourcesFit", code: finding.InsufficientResources, reason: "Insufficient " + string(name),
			message: fmt.Sprintf("%s: %s requested, %s of %s free", name, human(name, d[name]), human(name, max(free, 0)), human(name, allocatable)),
			operands: []diagnosticsv1alpha1.Term{
				operand("requested", name, d[name], nil),
				operand("allocatable", name, allocatable, allocatableOf(node, name)),
				operand("held", name, held[name], nil),
			},
			distance:  float64(d[name]-free) / float64(max(d[name], 1)),
			evictable: d[name] <= allocatable,
		})
	}
	if pods, ok := node.Status.Allocatable[corev1.ResourcePods]; ok && int64(len(on.pods)) >= pods.Value() {
		refusals = append(refusals, refusal{
			plugin: "NodeResourcesFit", code: finding.InsufficientResources, reason: "Too many pods", evictable: pods.Value() > 0,
			message: fmt.Sprintf("%d pods of at most %d are on the node", len(on.pods), pods.Value()),
		})
	}
	return refusals
}

// beyond compares requests with all of allocatable, which is what can be said where the pods of the node are not known.
func (d demand) beyond(node *corev1.Node) []refusal {
	var refusals []refusal
	for _, name := range slices.Sorted(maps.Keys(d)) {
		quantity := node.Status.Allocatable[name]
		allocatable := amount(name, quantity)
		if d[name] <= allocatable {
			continue
		}
		refusals = append(refusals, refusal{
			plugin: "NodeResourcesFit", code: finding.InsufficientResources, reason: "Insufficient " + string(name),
			message: fmt.Sprintf("%s: %s requested, more than the %s that the node has", name, human(name, d[name]), human(name, allocatable)),
			operands: []diagnosticsv1alpha1.Term{
				operand("requested", name, d[name], nil),
				operand("allocatable", name, allocatable, allocatableOf(node, name)),
			},
			distance: float64(d[name]-allocatable) / float64(max(d[name], 1)),
		})
	}
	return refusals
}

func allocatableOf(node *corev1.Node, name corev1.ResourceName) *diagnosticsv1alpha1.SourceRef {
	return &diagnosticsv1alpha1.SourceRef{Kind: "Node", Name: node.Name, Field: "status.allocatable." + string(name)}
}

func operand(term string, name corev1.ResourceName, value int64, source *diagnosticsv1alpha1.SourceRef) diagnosticsv1alpha1.Term {
	return diagnosticsv1alpha1.Term{Name: term, Operator: diagnosticsv1alpha1.Info, Value: value, Unit: unitOf(name), Source: source, Note: string(name)}
}

func unitOf(name corev1.ResourceName) diagnosticsv1alpha1.Unit {
	switch name {
	case corev1.ResourceCPU, extension.BatchCPU, extension.MidCPU:
		return diagnosticsv1alpha1.MilliCPU
	case corev1.ResourceMemory, extension.BatchMemory, extension.MidMemory, corev1.ResourceEphemeralStorage:
		return diagnosticsv1alpha1.Bytes
	default:
		return diagnosticsv1alpha1.Count
	}
}

// human writes an amount as Kubernetes does: 1500m, 4, 8Gi.
func human(name corev1.ResourceName, value int64) string {
	switch unitOf(name) {
	case diagnosticsv1alpha1.MilliCPU:
		return resource.NewMilliQuantity(value, resource.DecimalSI).String()
	case diagnosticsv1alpha1.Bytes:
		return resource.NewQuantity(value, resource.BinarySI).String()
	default:
		return resource.NewQuantity(value, resource.DecimalSI).String()
	}
}
