package device

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/decision/core/kubectl"
)

// Relaxation is a smaller wish with which a pod fits on a node.
type Relaxation struct {
	// Kind of change: reduceRequest, dropTopologyScope, dropJointScope, relaxPartition.
	Kind string
	// Description with the numbers.
	Description string
	// Steps apply the change, where a command can.
	Steps []diagnosticsv1alpha1.FixStep
	// Given is the part of what it asks for that the pod gives up, 0 to 1; 0 for a wish about which devices it gets.
	Given float64
	// Pod is the pod with the change.
	Pod *corev1.Pod
}

// Relaxations lists the wishes that a pod could give up to fit on a node where it does not: each by itself suffices there.
// Templates are those in force.
func Relaxations(pod *corev1.Pod, in Input, templates Templates) []Relaxation {
	trace := &Trace{}
	refusal := Fits(in, trace)
	if refusal == nil {
		return nil
	}
	var kept []Relaxation
	for _, change := range append(relaxAnnotations(pod, in.Request), reduceRequests(pod, trace)...) {
		request, invalid := ParseRequest(change.Pod, in.Policy, templates)
		if invalid != nil || request == nil {
			continue
		}
		if Fits(Input{Ledger: in.Ledger, Request: request, Policy: in.Policy, Zones: in.Zones}, nil) == nil {
			kept = append(kept, change)
		}
	}
	return firstOfKind(kept)
}

// firstOfKind keeps the mildest change of each kind; they come mildest first.
func firstOfKind(changes []Relaxation) []Relaxation {
	seen := map[string]bool{}
	return slices.DeleteFunc(changes, func(r Relaxation) bool {
		known := seen[r.Kind]
		seen[r.Kind] = true
		return known
	})
}

func relaxAnnotations(pod *corev1.Pod, request *Request) []Relaxation {
	var changes []Relaxation
	hints, err := extension.GetDeviceAllocateHints(pod.Annotations)
	if err != nil {
		return nil
	}
	scoped := false
	for _, hint := range hints {
		if hint != nil && hint.RequiredTopologyScope != "" {
			scoped = true
			hint.RequiredTopologyScope = ""
		}
	}
	if scoped {
		changes = append(changes, annotation(pod, "dropTopologyScope", "drop the required topology scope of the devices", extension.AnnotationDeviceAllocateHint, hints))
	}
	if request.samePCIe {
		joint, _ := extension.GetDeviceJointAllocate(pod.Annotations)
		joint.RequiredScope = ""
		changes = append(changes, annotation(pod, "dropJointScope", "let devices of different types be on different PCIe switches", extension.AnnotationDeviceJointAllocate, joint))
	}
	if request.partition.best {
		spec, _ := extension.GetGPUPartitionSpec(pod.Annotations)
		spec.AllocatePolicy = extension.GPUPartitionAllocatePolicyBestEffort
		changes = append(changes, annotation(pod, "relaxPartition", "accept GPU partitions that are not the best ones", extension.AnnotationGPUPartitionSpec, spec))
	}
	return changes
}

func annotation(pod *corev1.Pod, kind, description, key string, value any) Relaxation {
	edited := pod.DeepCopy()
	text, err := json.Marshal(value)
	if err != nil {
		return Relaxation{Kind: kind, Pod: edited} // these values always marshal
	}
	edited.Annotations[key] = string(text)
	step := kubectl.Annotate(kubectl.Pod(pod.Namespace, pod.Name), map[string]*string{key: kubectl.Value(string(text))})
	return Relaxation{Kind: kind, Description: description, Steps: []diagnosticsv1alpha1.FixStep{step}, Pod: edited}
}

// reduceRequests proposes smaller requests of the type that was refused: fewer devices, or a smaller share.
func reduceRequests(pod *corev1.Pod, trace *Trace) []Relaxation {
	var changes []Relaxation
	for i := range trace.Types {
		of := &trace.Types[i]
		if of.Demand.All {
			continue
		}
		for count := min(of.Needed-1, len(of.Devices)); count > 0; count-- {
			changes = append(changes, reduced(pod, of, of.Demand.fewer(count), fmt.Sprintf("%d %s instead of %d", count, of.Demand.kind.several(count), of.Needed))...)
		}
		if of.Needed == 1 && of.Eligible == 0 {
			changes = append(changes, reduceShare(pod, of)...)
		}
	}
	return changes
}

// fewer scales what the pod asks for to a smaller number of devices.
func (d *Demand) fewer(count int) corev1.ResourceList {
	list := corev1.ResourceList{}
	for name, quantity := range d.Asked {
		list[name] = *resource.NewQuantity(quantity.Value()/int64(d.Count)*int64(count), quantity.Format)
	}
	return list
}

// reduceShare asks for what the device with most left of the share has.
func reduceShare(pod *corev1.Pod, of *TypeTrace) []Relaxation {
	best, fraction := Amount{}, 0.0
	for i := range of.Devices {
		device := &of.Devices[i]
		if device.excluded != tooLittleLeft && device.excluded != tooSmall {
			continue
		}
		asked, part := of.Demand.askedOf(device), 1.0
		for dim, value := range asked {
			if value > 0 {
				part = min(part, float64(device.Free[dim])/float64(value))
			}
		}
		if part > fraction {
			best, fraction = device.Free, part
		}
	}
	if fraction <= 0 {
		return nil
	}
	list, words := of.Demand.shrunk(&best)
	return reduced(pod, of, list, words)
}

// shrunk asks for no more than is free of anything.
func (d *Demand) shrunk(free *Amount) (corev1.ResourceList, string) {
	list := corev1.ResourceList{}
	var words []string
	for _, name := range slices.Sorted(maps.Keys(d.Asked)) {
		quantity := d.Asked[name]
		dim, most := d.limit(name, free)
		if dim == dimensions || quantity.Value() <= most {
			list[name] = quantity
			continue
		}
		list[name] = *resource.NewQuantity(most, quantity.Format)
		words = append(words, fmt.Sprintf("%s %s instead of %s", amountText(dim, most), name, amountText(dim, quantity.Value())))
	}
	return list, strings.Join(words, " and ")
}

// limit is how much of a resource fits into what is free.
func (d *Demand) limit(name corev1.ResourceName, free *Amount) (dimension, int64) {
	if name == extension.ResourceGPU {
		return core, min(free[core], free[ratio])
	}
	for dim, known := range dimensionNames {
		if known == name {
			return dimension(dim), free[dim]
		}
	}
	return dimensions, 0
}

func reduced(pod *corev1.Pod, of *TypeTrace, list corev1.ResourceList, words string) []Relaxation {
	edited, ok := withRequests(pod, list)
	if !ok || words == "" {
		return nil
	}
	given := 0.0
	for name, quantity := range list {
		before := of.Demand.Asked[name]
		given = max(given, 1-quantity.AsApproximateFloat64()/before.AsApproximateFloat64())
	}
	return []Relaxation{{Kind: "reduceRequest", Description: "request " + words, Given: given, Pod: edited}}
}

// withRequests returns the pod with other requests for devices; false when they are spread over containers, or would be
// nothing.
func withRequests(pod *corev1.Pod, list corev1.ResourceList) (*corev1.Pod, bool) {
	edited := pod.DeepCopy()
	for name, quantity := range list {
		found := 0
		if quantity.Sign() <= 0 {
			return nil, false
		}
		for i := range edited.Spec.InitContainers {
			if holds(&edited.Spec.InitContainers[i], name, nil) {
				return nil, false
			}
		}
		for i := range edited.Spec.Containers {
			if holds(&edited.Spec.Containers[i], name, &quantity) {
				found++
			}
		}
		if found != 1 {
			return nil, false
		}
	}
	return edited, true
}

// holds is true when a container requests the resource, by whatever name; its request and limit become the quantity.
func holds(container *corev1.Container, name corev1.ResourceName, quantity *resource.Quantity) bool {
	for known := range container.Resources.Requests {
		if extension.CanonicalResourceName(known) != name {
			continue
		}
		if quantity != nil {
			container.Resources.Requests[known] = *quantity
			if _, limited := container.Resources.Limits[known]; limited {
				container.Resources.Limits[known] = *quantity
			}
		}
		return true
	}
	return false
}
