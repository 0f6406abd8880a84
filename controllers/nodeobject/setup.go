package nodeobject

import (
	"errors"
	"fmt"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"koordinator.sh/koord/controllers/sloconfig"
)

// DefaultWorkers is how many nodes are reconciled at the same time.
const DefaultWorkers = 4

// Options of a controller.
type Options struct {
	// Config in force; required.
	Config *sloconfig.Store
	// Workers reconcile at the same time; DefaultWorkers when zero or less.
	Workers int
}

// AddToManager adds the controller of a kind. It runs on the leader only.
func AddToManager[T client.Object](mgr ctrl.Manager, kind Kind[T], o Options) error {
	if err := register(metrics.Registry, kind.Metrics); err != nil {
		return fmt.Errorf("register the metrics of %s: %w", kind.Name, err)
	}
	workers := o.Workers
	if workers <= 0 {
		workers = DefaultWorkers
	}
	return ctrl.NewControllerManagedBy(mgr).
		Named(kind.Name).
		For(&corev1.Node{}, builder.WithPredicates(kind.NodeChanged)).
		// A counterpart without a node arrives here at start; changes of its status do not change the generation.
		Watches(kind.New(), &handler.EnqueueRequestForObject{}, builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		WatchesRawSource(o.Config.Changes(sloconfig.EveryNode(mgr.GetClient()), kind.Keys)).
		WithOptions(controller.Options{MaxConcurrentReconciles: workers}).
		Complete(NewReconciler(kind, mgr.GetClient(), o.Config))
}

// register adds a collector to a registry that may have it already, from an earlier manager of the process.
func register(to prometheus.Registerer, collector prometheus.Collector) error {
	err := to.Register(collector)
	var already prometheus.AlreadyRegisteredError
	if errors.As(err, &already) && already.ExistingCollector == collector {
		return nil
	}
	return err
}
