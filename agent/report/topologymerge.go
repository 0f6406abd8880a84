package report

import (
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"koordinator.sh/koord/api/extension"
	topologyv1alpha1 "koordinator.sh/koord/api/topology/v1alpha1"
)

// ownTopologyAnnotations and ownTopologyLabels are those of a NodeResourceTopology that the agent answers for.
var (
	ownTopologyAnnotations = []string{
		extension.AnnotationNodeCPUTopology, extension.AnnotationCPUBasicInfo, extension.AnnotationKubeletCPUManagerPolicy,
		extension.AnnotationNodePodCPUAllocs, extension.AnnotationNodeCPUSharedPools, extension.AnnotationNodeBECPUSharedPools,
		extension.AnnotationNodeReservation, extension.AnnotationSystemQOSResource, extension.AnnotationAgentServing,
	}
	ownTopologyLabels = []string{extension.LabelManagedBy, extension.LabelNodeEnableNUMAReservation}
)

// MergeTopology is the current object with everything that the agent answers for as it is wanted. What others wrote stays:
// their labels and annotations, their owners, and in zones that still exist their resources, such as batch-cpu, and
// attributes. Neither argument is changed.
func MergeTopology(current, wanted *topologyv1alpha1.NodeResourceTopology) *topologyv1alpha1.NodeResourceTopology {
	out := current.DeepCopy()
	out.Labels = replaced(out.Labels, wanted.Labels, ownTopologyLabels)
	out.Annotations = replaced(out.Annotations, wanted.Annotations, ownTopologyAnnotations)
	out.OwnerReferences = append(slices.DeleteFunc(out.OwnerReferences, func(owner metav1.OwnerReference) bool {
		return owner.APIVersion == "v1" && owner.Kind == "Node"
	}), wanted.OwnerReferences...)
	out.TopologyPolicies = slices.Clone(wanted.TopologyPolicies)
	out.Zones = make(topologyv1alpha1.ZoneList, 0, len(wanted.Zones))
	for _, zone := range wanted.Zones {
		zone = *zone.DeepCopy()
		if i := slices.IndexFunc(current.Zones, func(z topologyv1alpha1.Zone) bool { return z.Name == zone.Name }); i >= 0 {
			zone = mergeZone(*current.Zones[i].DeepCopy(), zone)
		}
		out.Zones = append(out.Zones, zone)
	}
	return out
}

// mergeZone puts the agent's resources into a zone, at the place they have there.
func mergeZone(zone, wanted topologyv1alpha1.Zone) topologyv1alpha1.Zone {
	zone.Type = wanted.Type
	for _, info := range wanted.Resources {
		i := slices.IndexFunc(zone.Resources, func(r topologyv1alpha1.ResourceInfo) bool { return r.Name == info.Name })
		if i < 0 {
			zone.Resources = append(zone.Resources, info)
		} else {
			zone.Resources[i] = info
		}
	}
	return zone
}

// replaced is a map with the values of some keys as they are wanted.
func replaced(current, wanted map[string]string, keys []string) map[string]string {
	out := maps.Clone(current)
	if out == nil {
		out = map[string]string{}
	}
	for _, key := range keys {
		delete(out, key)
	}
	maps.Copy(out, wanted)
	return out
}
