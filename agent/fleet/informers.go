package fleet

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"koordinator.sh/koord/agent/connection"
	"koordinator.sh/koord/agent/host/simulated"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	topologyv1alpha1 "koordinator.sh/koord/api/topology/v1alpha1"
)

// byNode is the index of pods by the node they are bound to.
const byNode = "node"

type informers struct {
	nodes, pods, metrics, topologies cache.SharedIndexInformer
}

func newInformers(c *connection.Clients, opts Options) (*informers, error) {
	out := &informers{
		nodes: watching(c.Core.CoreV1().RESTClient(), "nodes", &corev1.Node{}, func(o *metav1.ListOptions) {
			o.LabelSelector = simulated.LabelNode + "=true"
		}),
		pods: watching(c.Core.CoreV1().RESTClient(), "pods", &corev1.Pod{}, func(o *metav1.ListOptions) {
			o.FieldSelector = "spec.nodeName!=,status.phase!=Succeeded,status.phase!=Failed"
		}),
		metrics:    watching(c.SLO, connection.NodeMetrics.Resource, &slov1alpha1.NodeMetric{}, func(*metav1.ListOptions) {}),
		topologies: watching(c.Topology, connection.NodeTopologies.Resource, &topologyv1alpha1.NodeResourceTopology{}, func(*metav1.ListOptions) {}),
	}
	if err := out.pods.AddIndexers(cache.Indexers{byNode: nodeOf}); err != nil {
		return nil, fmt.Errorf("index pods by node: %w", err)
	}
	for informer, transform := range map[cache.SharedIndexInformer]cache.TransformFunc{
		out.nodes: recordNode, out.metrics: recordMetric, out.topologies: recordTopology, out.pods: recordPod(opts.timeline(), opts.Trace),
	} {
		if err := informer.SetTransform(transform); err != nil {
			return nil, fmt.Errorf("set up an informer: %w", err)
		}
	}
	return out, nil
}

func watching(client rest.Interface, resource string, example runtime.Object, narrow func(*metav1.ListOptions)) cache.SharedIndexInformer {
	lw := cache.NewFilteredListWatchFromClient(client, resource, metav1.NamespaceAll, narrow)
	return cache.NewSharedIndexInformer(lw, example, 0, cache.Indexers{})
}

// nodeOf is the index function of byNode.
func nodeOf(object any) ([]string, error) {
	if pod, ok := object.(*podRecord); ok {
		return []string{pod.nodeName}, nil
	}
	return nil, nil
}

// gone returns the last known record of a deleted object.
func gone[T any](object any) (record T, ok bool) {
	if tombstone, missed := object.(cache.DeletedFinalStateUnknown); missed {
		object = tombstone.Obj
	}
	record, ok = object.(T)
	return record, ok
}
