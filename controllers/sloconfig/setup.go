package sloconfig

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"koordinator.sh/koord/api/configuration"
)

// LastGoodSuffix is appended to the ConfigMap's name for the one that keeps the texts in force.
const LastGoodSuffix = "-last-good"

// Options of the reader. The zero value reads koordinator-system/slo-controller-config.
type Options struct {
	// Store to fill; required.
	Store *Store
	// ConfigMap to read.
	ConfigMap types.NamespacedName
}

// Name is the ConfigMap that is read.
func (o Options) Name() types.NamespacedName {
	if o.ConfigMap.Name != "" {
		return o.ConfigMap
	}
	return types.NamespacedName{Namespace: configuration.DefaultNamespace, Name: configuration.DefaultConfigMapName}
}

func (o Options) lastGood() types.NamespacedName {
	name := o.Name()
	name.Name += LastGoodSuffix
	return name
}

// ByObject restricts a manager's cache to the ConfigMaps of the configuration's namespace. Without it the manager would
// need to read every ConfigMap of the cluster.
func ByObject(o Options) (client.Object, cache.ByObject) {
	return &corev1.ConfigMap{}, cache.ByObject{Namespaces: map[string]cache.Config{o.Name().Namespace: {}}}
}

// AddToManager adds the reader. It runs on every replica, because each answers questions about the configuration; only the
// leader writes events and the last-good ConfigMap.
func AddToManager(mgr ctrl.Manager, o Options) error {
	register()
	r := newReconciler(mgr.GetClient(), mgr.GetEventRecorder("slo-config"), o, mgr.Elected())
	elected := make(chan event.GenericEvent, 1)
	if err := mgr.Add(announceElection(mgr.Elected(), elected)); err != nil {
		return err
	}
	enqueue := handler.EnqueueRequestsFromMapFunc(func(context.Context, client.Object) []reconcile.Request {
		return []reconcile.Request{{NamespacedName: o.Name()}}
	})
	mine := predicate.NewPredicateFuncs(func(object client.Object) bool {
		key := client.ObjectKeyFromObject(object)
		return key == o.Name() || key == o.lastGood()
	})
	return ctrl.NewControllerManagedBy(mgr).
		Named("sloconfig").
		Watches(&corev1.ConfigMap{}, enqueue, builder.WithPredicates(mine)).
		// A ConfigMap that does not exist sends no event; this one makes sure that the first look happens.
		WatchesRawSource(source.Channel(firstLook(), enqueue)).
		WatchesRawSource(source.Channel(elected, enqueue)).
		WithOptions(controller.Options{NeedLeaderElection: new(false), MaxConcurrentReconciles: 1}).
		Complete(r)
}

func firstLook() <-chan event.GenericEvent {
	once := make(chan event.GenericEvent, 1)
	once <- event.GenericEvent{Object: &corev1.ConfigMap{}}
	return once
}

// announceElection passes on that this replica became the leader, which then writes what it has read.
func announceElection(won <-chan struct{}, to chan<- event.GenericEvent) manager.Runnable {
	return everyReplica(func(ctx context.Context) error {
		select {
		case <-won:
			to <- event.GenericEvent{Object: &corev1.ConfigMap{}}
		case <-ctx.Done():
		}
		return nil
	})
}

// everyReplica is a runnable that does not wait for leadership.
type everyReplica func(context.Context) error

// Start runs the function until the context ends.
func (f everyReplica) Start(ctx context.Context) error { return f(ctx) }

// NeedLeaderElection is false: the function itself waits.
func (everyReplica) NeedLeaderElection() bool { return false }

func newReconciler(c client.Client, recorder events.EventRecorder, o Options, elected <-chan struct{}) *reconciler {
	return &reconciler{client: c, recorder: recorder, options: o, elected: elected}
}
