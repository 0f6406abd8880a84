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

// ByObject keeps of NodeResourceTopologies in a manager's cache no more than what the cpu is, and where the agent answers.
func ByObject() map[client.Object]cache.ByObject {
	return map[client.Object]cache.ByObject{
		&topologyv1alpha1.NodeResourceTopology{}: {Transform: trimTopology},
		&schedulingv1alpha1.Device{}:             {Transform: cache.TransformStripManagedFields()},
	}
}

// keptAnnotations of NodeResourceTopologies are what the controller and the diagnostics API read of them.
var keptAnnotations = []string{extension.AnnotationCPUBasicInfo, extension.AnnotationAgentServing}

// trimTopology drops everything of a NodeResourceTopology but its identity and keptAnnotations: with zones and the pods' cpus
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

// watch makes the controller look at NodeResourceTopologies and Devices, each named like its node, when they are served.
func (e *extensions) watch(mgr ctrl.Manager, b *builder.Builder) error {
	for _, companion := range []struct {
		kind   schema.GroupVersionKind
		object client.Object
		option builder.WatchesOption
		reader *client.Reader
	}{
		{topologyv1alpha1.GroupVersion.WithKind("NodeResourceTopology"), &topologyv1alpha1.NodeResourceTopology{}, builder.WithPredicates(topologyMatters()), &e.topologies},
		{schedulingv1alpha1.GroupVersion.WithKind("Device"), &schedulingv1alpha1.Device{}, builder.WithPredicates(deviceMatters()), &e.devices},
	} {
		_, err := mgr.GetRESTMapper().RESTMapping(companion.kind.GroupKind(), companion.kind.Version)
		if meta.IsNoMatchError(err) {
			continue
		}
		if err != nil {
			return fmt.Errorf("discover %s: %w", companion.kind.Kind, err)
		}
		b.Watches(companion.object, &handler.EnqueueRequestForObject{}, companion.option)
		*companion.reader = mgr.GetClient()
	}
	return nil
}
