package noderesource

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"

	"koordinator.sh/koord/api/extension"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	topologyv1alpha1 "koordinator.sh/koord/api/topology/v1alpha1"
)

// ByObject restricts NodeResourceTopologies in the cache of a manager to the CPU information and the address of koordlet.
func ByObject() map[client.Object]cache.ByObject {
	return map[client.Object]cache.ByObject{
		&topologyv1alpha1.NodeResourceTopology{}: {Transform: trimTopology},
		&schedulingv1alpha1.Device{}:             {Transform: cache.TransformStripManagedFields()},
	}
}

// keptAnnotations are the annotations of NodeResourceTopologies that the controller and the diagnostics API read.
var keptAnnotations = []string{extension.AnnotationCPUBasicInfo, extension.AnnotationAgentServing}

// trimTopology drops everything from a NodeResourceTopology except its identity and keptAnnotations: with zones and CPUs of pods
// the objects of a large cluster would be most of the manager's memory.
func trimTopology(object any) (any, error) {
	topology, ok := object.(*topologyv1alpha1.NodeResourceTopology)
	if !ok {
		return object, nil
	}
	annotations := map[string]string{}
	for _, key := range keptAnnotations {
		if value, ok := topology.Annotations[key]; ok {
			annotations[key] = value
		}
	}
	kept := &topologyv1alpha1.NodeResourceTopology{TypeMeta: topology.TypeMeta}
	kept.Name, kept.UID, kept.ResourceVersion, kept.Annotations = topology.Name, topology.UID, topology.ResourceVersion, annotations
	return kept, nil
}

// watch adds watches for NodeResourceTopologies and Devices, which are named like their node, if the API server serves them.
func (e *extensions) watch(mgr ctrl.Manager, b *builder.Builder) error {
	for _, watched := range []struct {
		kind   schema.GroupVersionKind
		object client.Object
		option builder.WatchesOption
		reader *client.Reader
	}{
		{topologyv1alpha1.GroupVersion.WithKind("NodeResourceTopology"), &topologyv1alpha1.NodeResourceTopology{}, builder.WithPredicates(topologyMatters()), &e.topologies},
		{schedulingv1alpha1.GroupVersion.WithKind("Device"), &schedulingv1alpha1.Device{}, builder.WithPredicates(deviceMatters()), &e.devices},
	} {
		_, err := mgr.GetRESTMapper().RESTMapping(watched.kind.GroupKind(), watched.kind.Version)
		if meta.IsNoMatchError(err) {
			continue
		}
		if err != nil {
			return fmt.Errorf("discover %s: %w", watched.kind.Kind, err)
		}
		b.Watches(watched.object, &handler.EnqueueRequestForObject{}, watched.option)
		*watched.reader = mgr.GetClient()
	}
	return nil
}
