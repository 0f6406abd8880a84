package elasticworkers

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
)

// Nodes says what nodes will offer of resources.
type Nodes interface {
	ExplainNode(ctx context.Context, spec diagnosticsv1alpha1.NodeExplanationSpec) (diagnosticsv1alpha1.NodeExplanationStatus, error)
}

// AddToManager adds the controller, which runs on the leader only. Where the cluster does not know ElasticWorkers, it adds nothing and
// says so.
func AddToManager(ctx context.Context, mgr ctrl.Manager, nodes Nodes) error {
	kind := schedulingv1alpha1.GroupVersion.WithKind("ElasticWorkers")
	_, err := mgr.GetRESTMapper().RESTMapping(kind.GroupKind(), kind.Version)
	if meta.IsNoMatchError(err) {
		klog.FromContext(ctx).Info("Elastic workers are disabled: the API server does not serve ElasticWorkers", "kind", kind)
		return nil
	}
	if err != nil {
		return fmt.Errorf("discover kind %q: %w", kind.Kind, err)
	}
	register()
	all := handler.EnqueueRequestsFromMapFunc(func(context.Context, client.Object) []reconcile.Request {
		return []reconcile.Request{{NamespacedName: types.NamespacedName{Name: "elasticworkers"}}}
	})
	r := &reconciler{
		client: mgr.GetClient(), live: mgr.GetAPIReader(), scales: subresource{mgr.GetClient()}, nodes: nodes,
		recorder: mgr.GetEventRecorder("elasticworkers"), asker: newAsker(mgr.GetAPIReader(), mgr.GetClient()), clock: clock.RealClock{},
	}
	return ctrl.NewControllerManagedBy(mgr).
		Named("elasticworkers").
		// The controller's own writes of the status start no pass.
		Watches(&schedulingv1alpha1.ElasticWorkers{}, all, builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		// A node that is lost, or cordoned, is acted upon at once.
		Watches(&corev1.Node{}, all, builder.WithPredicates(availability{})).
		WithOptions(controller.Options{
			MaxConcurrentReconciles: 1,
			// A pass that failed for one of them is repeated as soon as any other, for workers of others drain meanwhile.
			RateLimiter: workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](time.Second, interval),
		}).
		Complete(r)
}
