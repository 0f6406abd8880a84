package topologies

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"koordinator.sh/koord/api/extension"
	topologyv1alpha1 "koordinator.sh/koord/api/topology/v1alpha1"
)

// source is all that numa.Observe reads. Two equal sources are observed as the same, so that heartbeats and reports of
// what is in use change nothing.
type source struct {
	labels      [3]string
	annotations [3]string
	reported    string
}

// plain is the source of the nodes that say nothing, most of them in most clusters.
var plain = &source{}

func sourceOf(node *corev1.Node, reported *topologyv1alpha1.NodeResourceTopology) *source {
	read := source{
		labels: [3]string{
			node.Labels[extension.LabelNodeCPUBindPolicy], node.Labels[extension.LabelNodeNUMAAllocateStrategy], node.Labels[extension.LabelNodeNUMATopologyPolicy],
		},
		annotations: [3]string{
			node.Annotations[extension.AnnotationNodeReservation], node.Annotations[extension.AnnotationSystemQOSResource],
			node.Annotations[extension.AnnotationNodeResourceAmplificationRatio],
		},
		reported: reportOf(reported),
	}
	if read == *plain {
		return plain
	}
	return &read
}

// reportOf writes down what counts of a NodeResourceTopology; not what is available, which the ledger knows better.
func reportOf(reported *topologyv1alpha1.NodeResourceTopology) string {
	if reported == nil {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%q", reported.TopologyPolicies)
	for _, key := range slices.Sorted(maps.Keys(reported.Annotations)) {
		switch key {
		case extension.AnnotationNodeCPUTopology, extension.AnnotationNodePodCPUAllocs, extension.AnnotationKubeletCPUManagerPolicy,
			extension.AnnotationNodeReservation, extension.AnnotationSystemQOSResource:
			fmt.Fprintf(&b, " %s %q", key, reported.Annotations[key])
		}
	}
	for _, zone := range reported.Zones {
		fmt.Fprintf(&b, " %q %q", zone.Type, zone.Name)
		for _, info := range zone.Resources {
			fmt.Fprintf(&b, " %q %s %s", info.Name, info.Capacity.String(), info.Allocatable.String())
		}
	}
	return b.String()
}
