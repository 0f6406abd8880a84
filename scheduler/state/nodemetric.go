package state

import (
	"context"
	"fmt"
	"sync/atomic"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
)

// NodeMetricResource is the resource watched.
var NodeMetricResource = schema.GroupVersionResource{Group: slov1alpha1.GroupVersion.Group, Version: slov1alpha1.GroupVersion.Version, Resource: "nodemetrics"}

// NodeMetrics is the informer of NodeMetrics.
type NodeMetrics struct {
	informer cache.SharedIndexInformer
	// changes counts additions, updates and deletions.
	changes atomic.Uint64
	// missing is true while the resource is not served; it keeps the log quiet.
	missing atomic.Bool
}

func newNodeMetricSource(config *rest.Config) (cache.ListerWatcher, error) {
	scheme := runtime.NewScheme()
	if err := slov1alpha1.AddToScheme(scheme); err != nil {
		return nil, fmt.Errorf("register the NodeMetric types: %w", err)
	}
	metav1.AddToGroupVersion(scheme, schema.GroupVersion{Version: "v1"})
	typed := rest.CopyConfig(rest.AddUserAgent(config, "scheduler-nodemetric"))
	typed.GroupVersion = &slov1alpha1.GroupVersion
	typed.APIPath = "/apis"
	typed.NegotiatedSerializer = serializer.NewCodecFactory(scheme).WithoutConversion()
	typed.ContentType, typed.AcceptContentTypes = runtime.ContentTypeJSON, runtime.ContentTypeJSON
	client, err := rest.RESTClientFor(typed)
	if err != nil {
		return nil, fmt.Errorf("create a client for NodeMetrics: %w", err)
	}
	return cache.NewListWatchFromClient(client, NodeMetricResource.Resource, metav1.NamespaceAll, fields.Everything()), nil
}

func newNodeMetrics(source cache.ListerWatcher) (*NodeMetrics, error) {
	metrics := &NodeMetrics{informer: cache.NewSharedIndexInformer(source, &slov1alpha1.NodeMetric{}, 0, cache.Indexers{})}
	if err := metrics.informer.SetTransform(trim); err != nil {
		return nil, fmt.Errorf("set up the NodeMetric informer: %w", err)
	}
	if err := metrics.informer.SetWatchErrorHandlerWithContext(metrics.watchFailed); err != nil {
		return nil, fmt.Errorf("set up the NodeMetric informer: %w", err)
	}
	count := func() { metrics.missing.Store(false); metrics.changes.Add(1) }
	_, err := metrics.informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: func(any) { count() }, UpdateFunc: func(_, _ any) { count() }, DeleteFunc: func(any) { count() },
	})
	if err != nil {
		return nil, fmt.Errorf("set up the NodeMetric informer: %w", err)
	}
	return metrics, nil
}

// trim drops what no plugin reads, which is a good part of an object that every node has.
func trim(object any) (any, error) {
	if metric, ok := object.(*slov1alpha1.NodeMetric); ok {
		metric.ManagedFields = nil
	}
	return object, nil
}

// watchFailed says once that NodeMetrics are not served; everything else is reported as usual.
func (m *NodeMetrics) watchFailed(ctx context.Context, reflector *cache.Reflector, err error) {
	if !apierrors.IsNotFound(err) {
		cache.DefaultWatchErrorHandler(ctx, reflector, err)
		return
	}
	if !m.missing.Swap(true) {
		klog.FromContext(ctx).Info("NodeMetrics are not served by the cluster; nodes count as of unknown load until they are")
	}
}

func (m *NodeMetrics) run(ctx context.Context) { m.informer.RunWithContext(ctx) }

func (m *NodeMetrics) get(node string) *slov1alpha1.NodeMetric {
	object, found, err := m.informer.GetIndexer().GetByKey(node)
	if err != nil || !found {
		return nil
	}
	metric, _ := object.(*slov1alpha1.NodeMetric)
	return metric
}

// Informer of NodeMetrics.
func (m *NodeMetrics) Informer() cache.SharedIndexInformer { return m.informer }
