package nodeslo

import (
	corev1 "k8s.io/api/core/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	"koordinator.sh/koord/controllers/sloconfig"
)

// Options of the controller.
type Options struct {
	// Config in force; required.
	Config *sloconfig.Store
	// Workers reconcile at the same time; 4 when zero.
	Workers int
}

// AddToManager adds the controller. It runs on the leader only.
func AddToManager(mgr ctrl.Manager, o Options) error {
	register()
	r := &reconciler{client: mgr.GetClient(), config: o.Config}
	workers := o.Workers
	if workers <= 0 {
		workers = 4
	}
	return ctrl.NewControllerManagedBy(mgr).
		Named("nodeslo").
		// Node selectors look at labels alone.
		For(&corev1.Node{}, builder.WithPredicates(predicate.LabelChangedPredicate{})).
		Watches(&slov1alpha1.NodeSLO{}, &handler.EnqueueRequestForObject{}, builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		WatchesRawSource(o.Config.Changes(sloconfig.EveryNode(mgr.GetClient()))).
		WithOptions(controller.Options{MaxConcurrentReconciles: workers}).
		Complete(r)
}
