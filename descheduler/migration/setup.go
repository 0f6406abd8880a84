package migration

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	"koordinator.sh/koord/decision/descheduling/migration"
)

// Bounds of the time between two tries of a step that failed.
const (
	minRetry = 100 * time.Millisecond
	maxRetry = 10 * time.Second
)

// Options of the controller.
type Options struct {
	// Args returns the arguments in force, with defaults and validated. MaxConcurrentReconciles is read once.
	Args func() *migration.Args
	// Retention of jobs that ended, in force.
	Retention func() migration.Retention
	// Client evicts pods, and Dynamic requests their eviction where the cluster serves EvictionRequests.
	Client  kubernetes.Interface
	Dynamic dynamic.Interface
	// Informers of pods and nodes, which the caller starts. When nil, the caches of the manager have the pods and nodes.
	Informers informers.SharedInformerFactory
}

// Add adds the controller to a manager, which runs it on the leader only. The scheme of the manager must have the kinds of core and of
// scheduling.koordinator.sh/v1alpha1.
func Add(ctx context.Context, mgr ctrl.Manager, options Options) error {
	if options.Args == nil || options.Retention == nil || options.Client == nil || options.Dynamic == nil {
		return errors.New("add the migration controller: it needs arguments, a retention and clients")
	}
	register()
	if err := addIndexes(ctx, mgr.GetFieldIndexer()); err != nil {
		return fmt.Errorf("add the migration controller: %w", err)
	}
	r := newReconciler(mgr, options)
	scavenger := &scavenger{client: mgr.GetClient(), live: mgr.GetAPIReader(), clock: clock.RealClock{}, pods: podList(mgr.GetClient(), options.Informers), retention: options.Retention}
	if err := mgr.Add(scavenger); err != nil {
		return fmt.Errorf("add the scavenger of migration jobs: %w", err)
	}
	err := ctrl.NewControllerManagedBy(mgr).
		Named("podmigrationjob").
		For(&schedulingv1alpha1.PodMigrationJob{}).
		Watches(&schedulingv1alpha1.Reservation{}, handler.EnqueueRequestsFromMapFunc(r.jobsOfReservation)).
		WatchesRawSource(podSource(mgr, options, r)).
		WatchesRawSource(nodeSource(mgr, options, r)).
		WithOptions(controller.Options{
			MaxConcurrentReconciles: int(options.Args().MaxConcurrentReconciles),
			SkipNameValidation:      new(true),
			RateLimiter:             workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](minRetry, maxRetry),
		}).
		Complete(r)
	if err != nil {
		return fmt.Errorf("add the migration controller: %w", err)
	}
	return nil
}

func newReconciler(mgr ctrl.Manager, options Options) *reconciler {
	return &reconciler{
		client:   mgr.GetClient(),
		cached:   cachedObjects(mgr, options),
		live:     liveObjects(mgr.GetAPIReader()),
		inForce:  options.Args,
		evictor:  evictor{client: options.Client},
		requests: newRequests(options.Dynamic, options.Client.Discovery()),
		rate:     &evictionRate{},
		recorder: mgr.GetEventRecorder("koord-descheduler"),
		clocks:   newClocks(clock.RealClock{}),
		surges:   &sync.Mutex{},
	}
}

// podSource watches the pods of jobs, in the cache that has the pods.
func podSource(mgr ctrl.Manager, options Options, r *reconciler) source.Source {
	if options.Informers == nil {
		return source.Kind(mgr.GetCache(), &corev1.Pod{}, handler.TypedEnqueueRequestsFromMapFunc(func(ctx context.Context, pod *corev1.Pod) []reconcile.Request {
			return r.jobsOfPod(ctx, pod)
		}), podMatters[*corev1.Pod]())
	}
	return &source.Informer{
		Informer: options.Informers.Core().V1().Pods().Informer(), Handler: handler.EnqueueRequestsFromMapFunc(r.jobsOfPod),
		Predicates: anyOf(podMatters[client.Object]()),
	}
}

// nodeSource watches the nodes that jobs move pods to.
func nodeSource(mgr ctrl.Manager, options Options, r *reconciler) source.Source {
	if options.Informers == nil {
		return source.Kind(mgr.GetCache(), &corev1.Node{}, handler.TypedEnqueueRequestsFromMapFunc(func(ctx context.Context, node *corev1.Node) []reconcile.Request {
			return r.jobsToNode(ctx, node)
		}), nodeMatters[*corev1.Node]())
	}
	return &source.Informer{
		Informer: options.Informers.Core().V1().Nodes().Informer(), Handler: handler.EnqueueRequestsFromMapFunc(r.jobsToNode),
		Predicates: anyOf(nodeMatters[client.Object]()),
	}
}
