package noderesource

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"koordinator.sh/koord/api/configuration"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	"koordinator.sh/koord/controllers/sloconfig"
)

// Options of the controller.
type Options struct {
	// Config in force; required.
	Config *sloconfig.Store
	// Clock by which ages are measured; the real one when nil.
	Clock clock.PassiveClock
	// Workers reconcile at the same time; 4 when zero.
	Workers int
	// Predictions of what pods will use; its own when nil.
	Predictions *Predictions
	// SharedGPU publishes gpu.shared, a hundred a GPU.
	SharedGPU bool
}

// AddToManager adds the controller, and the index of pods by node to the manager's cache. The controller runs on the
// leader only. NodeResourceTopologies and Devices are watched when the API server serves them at the start.
func AddToManager(ctx context.Context, mgr ctrl.Manager, o Options) error {
	register()
	if err := IndexPods(ctx, mgr.GetFieldIndexer()); err != nil {
		return err
	}
	if o.Clock == nil {
		o.Clock = clock.RealClock{}
	}
	if o.Workers <= 0 {
		o.Workers = 4
	}
	if o.Predictions == nil {
		o.Predictions = NewPredictions()
	}
	if err := metrics.Registry.Register(o.Predictions); err != nil {
		return fmt.Errorf("register the metrics of predictions: %w", err)
	}
	if err := mgr.Add(newObserver(mgr, &o)); err != nil {
		return fmt.Errorf("add the observer of standby replicas: %w", err)
	}
	r := &reconciler{client: mgr.GetClient(), config: o.Config, clock: o.Clock, recorder: mgr.GetEventRecorder("noderesource"), predictions: o.Predictions, steady: &o.Predictions.steady}
	r.extensions.sharedGPU = o.SharedGPU
	b := ctrl.NewControllerManagedBy(mgr).
		Named("noderesource").
		For(&corev1.Node{}, builder.WithPredicates(nodeMatters())).
		Watches(&slov1alpha1.NodeMetric{}, &handler.EnqueueRequestForObject{}, builder.WithPredicates(metricMatters())).
		Watches(&corev1.Pod{}, handler.EnqueueRequestsFromMapFunc(nodeOfPod), builder.WithPredicates(podMatters())).
		WatchesRawSource(o.Config.Changes(sloconfig.EveryNode(mgr.GetClient()), keys())).
		WithOptions(controller.Options{MaxConcurrentReconciles: o.Workers})
	if err := r.extensions.watch(mgr, b); err != nil {
		return err
	}
	return b.Complete(r)
}

// keys of the configuration that decide what nodes offer and how large they are shown.
func keys() []string {
	return []string{configuration.ColocationConfigKey, configuration.CPUNormalizationConfigKey, configuration.ResourceAmplificationConfigKey}
}

// IndexPods adds PodNodeIndex to a cache.
func IndexPods(ctx context.Context, indexer client.FieldIndexer) error {
	if err := indexer.IndexField(ctx, &corev1.Pod{}, PodNodeIndex, indexByNode); err != nil {
		return fmt.Errorf("index pods by node: %w", err)
	}
	return nil
}

func indexByNode(object client.Object) []string {
	pod, ok := object.(*corev1.Pod)
	if !ok || pod.Spec.NodeName == "" {
		return nil
	}
	return []string{pod.Spec.NodeName}
}

func nodeOfPod(_ context.Context, object client.Object) []reconcile.Request {
	var requests []reconcile.Request
	for _, name := range indexByNode(object) {
		requests = append(requests, reconcile.Request{NamespacedName: types.NamespacedName{Name: name}})
	}
	return requests
}
