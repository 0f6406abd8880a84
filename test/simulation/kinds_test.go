package simulation

import (
	"slices"
	"strings"
)

// kind is one resource of the simulated API server.
type kind struct {
	group, version, resource, name string
	namespaced                     bool
	// whole objects are written with their status.
	whole bool
}

func (k kind) apiVersion() string {
	if k.group == "" {
		return k.version
	}
	return k.group + "/" + k.version
}

// served are the kinds that have a name here; any other resource is served, too, and has no objects.
var served = kindsOf(`
v1 pods Pod namespaced
v1 nodes Node
v1 namespaces Namespace
v1 services Service namespaced
v1 configmaps ConfigMap namespaced
v1 persistentvolumes PersistentVolume
v1 persistentvolumeclaims PersistentVolumeClaim namespaced
v1 replicationcontrollers ReplicationController namespaced
apps/v1 replicasets ReplicaSet namespaced
apps/v1 statefulsets StatefulSet namespaced
policy/v1 poddisruptionbudgets PodDisruptionBudget namespaced
storage.k8s.io/v1 storageclasses StorageClass
storage.k8s.io/v1 csinodes CSINode
storage.k8s.io/v1 csidrivers CSIDriver
storage.k8s.io/v1 csistoragecapacities CSIStorageCapacity namespaced
storage.k8s.io/v1 volumeattachments VolumeAttachment
resource.k8s.io/v1 resourceclaims ResourceClaim namespaced
resource.k8s.io/v1 resourceslices ResourceSlice
resource.k8s.io/v1 deviceclasses DeviceClass
scheduling.koordinator.sh/v1alpha1 reservations Reservation
scheduling.koordinator.sh/v1alpha1 devices Device
scheduling.koordinator.sh/v1alpha1 clusternetworktopologies ClusterNetworkTopology
slo.koordinator.sh/v1alpha1 nodemetrics NodeMetric
topology.node.k8s.io/v1alpha1 noderesourcetopologies NodeResourceTopology
scheduling.sigs.k8s.io/v1alpha1 elasticquotas ElasticQuota namespaced whole
scheduling.sigs.k8s.io/v1alpha1 podgroups PodGroup namespaced whole
`)

func kindsOf(table string) map[string]kind {
	kinds := map[string]kind{}
	for line := range strings.Lines(table) {
		words := strings.Fields(line)
		if len(words) < 3 {
			continue
		}
		group, version, grouped := strings.Cut(words[0], "/")
		if !grouped {
			group, version = "", words[0]
		}
		kinds[group+"/"+words[1]] = kind{group: group, version: version, resource: words[1], name: words[2],
			namespaced: slices.Contains(words, "namespaced"), whole: slices.Contains(words, "whole")}
	}
	return kinds
}

func kindOf(group, version, resource string) kind {
	if known, found := served[group+"/"+resource]; found {
		return known
	}
	return kind{group: group, version: version, resource: resource, name: resource}
}

// target is what the path of a request names.
type target struct {
	kind                         kind
	namespace, name, subresource string
}

// targetOf reads a path like /apis/GROUP/VERSION/namespaces/NAMESPACE/RESOURCE/NAME/SUBRESOURCE; false for any other.
func targetOf(path string) (target, bool) {
	words := strings.Split(strings.Trim(path, "/"), "/")
	group := ""
	switch {
	case len(words) >= 3 && words[0] == "api":
		words = words[1:]
	case len(words) >= 4 && words[0] == "apis":
		group, words = words[1], words[2:]
	default:
		return target{}, false
	}
	t, version := target{}, words[0]
	words = words[1:]
	if words[0] == "namespaces" && len(words) > 2 {
		t.namespace, words = words[1], words[2:]
	}
	t.kind = kindOf(group, version, words[0])
	if len(words) > 1 {
		t.name = words[1]
	}
	if len(words) > 2 {
		t.subresource = words[2]
	}
	return t, true
}

// key of an object within its kind.
func (t target) key() string {
	if t.kind.namespaced {
		return t.namespace + "/" + t.name
	}
	return t.name
}

func (t target) String() string {
	text := t.kind.resource + " " + t.key()
	if t.subresource != "" {
		text += " " + t.subresource
	}
	return text
}
