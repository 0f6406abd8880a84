package state

import (
	"context"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	"koordinator.sh/koord/scheduler/informer"
)

// NodeMetricResource is the resource watched.
var NodeMetricResource = schema.GroupVersionResource{Group: slov1alpha1.GroupVersion.Group, Version: slov1alpha1.GroupVersion.Version, Resource: "nodemetrics"}

var nodeMetricKind = informer.Kind{
	Resource: NodeMetricResource, Object: &slov1alpha1.NodeMetric{}, Register: slov1alpha1.AddToScheme,
	Absent: "nodes count as of unknown load",
}

// NodeMetrics is the informer of NodeMetrics.
type NodeMetrics struct {
	*informer.Informer
	// changes counts additions, updates and deletions.
	changes atomic.Uint64
}

func newNodeMetrics(config *rest.Config, stamps *stamps) (*NodeMetrics, error) {
	watched, err := informer.New(config, nodeMetricKind)
	if err != nil {
		return nil, err
	}
	return countChanges(watched, stamps)
}

func countChanges(watched *informer.Informer, stamps *stamps) (*NodeMetrics, error) {
	metrics := &NodeMetrics{Informer: watched}
	count := func(object any) {
		metrics.changes.Add(1)
		if name, err := cache.DeletionHandlingObjectToName(object); err == nil {
			stamps.touch(name.Name)
		}
	}
	_, err := watched.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: count, UpdateFunc: func(_, after any) { count(after) }, DeleteFunc: count,
	})
	return metrics, err
}

func (m *NodeMetrics) run(ctx context.Context) { m.RunWithContext(ctx) }

func (m *NodeMetrics) get(node string) *slov1alpha1.NodeMetric {
	metric, _ := informer.Get[*slov1alpha1.NodeMetric](m, node)
	return metric
}
