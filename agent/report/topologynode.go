package report

import (
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/decision/core/capacity"
	"koordinator.sh/koord/decision/core/cpuset"
	"koordinator.sh/koord/decision/core/podrequest"
)

// copiedAnnotations of the node stand in its NodeResourceTopology as well.
var copiedAnnotations = []string{extension.AnnotationNodeReservation, extension.AnnotationSystemQOSResource}

// TopologyNode is what the report of a topology needs to know of its Node.
type TopologyNode struct {
	Name string
	UID  types.UID
	// Annotations that are copied to the topology; others are not looked at.
	Annotations map[string]string
	// NUMAReservation is the label node.koordinator.sh/enable-numa-reservation: "true" takes what the kubelet keeps for
	// itself from the zones.
	NUMAReservation string
	// Kept is what the kubelet keeps for itself: capacity - allocatable, before amplification.
	Kept podrequest.Amount
}

// TopologyNodeOf reads a Node.
func TopologyNodeOf(node *corev1.Node) TopologyNode {
	size := capacity.Of(node)
	out := TopologyNode{
		Name: node.Name, UID: node.UID, NUMAReservation: node.Labels[extension.LabelNodeEnableNUMAReservation],
		Kept: podrequest.Amount{
			MilliCPU: max(size.Total.MilliCPU-size.Raw.MilliCPU, 0), Memory: max(size.Total.Memory-size.Raw.Memory, 0),
		},
	}
	for _, key := range copiedAnnotations {
		if value := node.Annotations[key]; value != "" {
			if out.Annotations == nil {
				out.Annotations = map[string]string{}
			}
			out.Annotations[key] = value
		}
	}
	return out
}

// kept are CPUs that no pod shares, because an annotation of the node keeps them for others.
type kept struct {
	cpus cpuset.CPUSet
	// unreadable annotations keep nothing.
	unreadable map[string]bool
}

// keptCPUs reads what the annotations keep. The error names those that cannot be read.
func (n TopologyNode) keptCPUs() (kept, error) {
	out := kept{unreadable: map[string]bool{}}
	var problems []error
	keep := func(key, list string, err error) {
		var cpus cpuset.CPUSet
		if err == nil {
			cpus, err = cpuset.Parse(list)
		}
		if err != nil {
			out.unreadable[key] = true
			problems = append(problems, err)
			return
		}
		out.cpus = out.cpus.Union(cpus)
	}
	reservation, err := extension.GetNodeReservation(n.Annotations)
	if reservation != nil || err != nil {
		keep(extension.AnnotationNodeReservation, reservedCPUs(reservation), err)
	}
	system, err := extension.GetSystemQOSResource(n.Annotations)
	if system != nil || err != nil {
		keep(extension.AnnotationSystemQOSResource, exclusiveCPUs(system), err)
	}
	if err := errors.Join(problems...); err != nil {
		return out, fmt.Errorf("node %q: %w", n.Name, err)
	}
	return out, nil
}

func reservedCPUs(reservation *extension.NodeReservation) string {
	if reservation == nil {
		return ""
	}
	return reservation.ReservedCPUs
}

func exclusiveCPUs(system *extension.SystemQOSResource) string {
	if system == nil || !system.IsCPUSetExclusive() {
		return ""
	}
	return system.CPUSet
}
