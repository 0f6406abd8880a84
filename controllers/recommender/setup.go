package recommender

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/flowcontrol"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	analysisv1alpha1 "koordinator.sh/koord/api/analysis/v1alpha1"
	"koordinator.sh/koord/decision/noderesource/recommend"
)

// resizesPerSecond and burst bound the resizes of the whole cluster.
const (
	resizesPerSecond = 1
	burst            = 10
)

// Options of the controller.
type Options struct {
	// Apply lets Recommendations with the annotation analysis.koordinator.sh/apply: in-place resize running pods.
	Apply bool
	// Runs of jobs, by which these are recommended; nil has them recommended by the usage of their pods, as other workloads.
	Runs Runs
}

// AddToManager adds the controller, which runs on the leader only. Where the cluster does not know Recommendations, it adds
// nothing and says so.
func AddToManager(ctx context.Context, mgr ctrl.Manager, options Options) error {
	kind := analysisv1alpha1.GroupVersion.WithKind("Recommendation")
	_, err := mgr.GetRESTMapper().RESTMapping(kind.GroupKind(), kind.Version)
	if meta.IsNoMatchError(err) {
		klog.FromContext(ctx).Info("The recommender is disabled: the API server does not serve Recommendations", "kind", kind)
		return nil
	}
	if err != nil {
		return fmt.Errorf("discover kind %q: %w", kind.Kind, err)
	}
	register()
	all := handler.EnqueueRequestsFromMapFunc(func(context.Context, client.Object) []reconcile.Request {
		return []reconcile.Request{{NamespacedName: types.NamespacedName{Name: "recommendations"}}}
	})
	// The controller's own writes of the status start no pass.
	changed := predicate.Or(predicate.GenerationChangedPredicate{}, predicate.AnnotationChangedPredicate{})
	return ctrl.NewControllerManagedBy(mgr).
		Named("recommender").
		Watches(&analysisv1alpha1.Recommendation{}, all, builder.WithPredicates(changed)).
		WithOptions(controller.Options{MaxConcurrentReconciles: 1}).
		Complete(newReconciler(mgr.GetClient(), mgr.GetAPIReader(), options, clock.RealClock{}))
}

func newReconciler(c client.Client, live client.Reader, options Options, clock clock.PassiveClock) *reconciler {
	return &reconciler{
		client: c, live: live, clock: clock, apply: options.Apply, options: recommend.DefaultOptions(), resizes: recommend.DefaultResizeOptions(),
		runs:      options.Runs,
		limiter:   flowcontrol.NewTokenBucketRateLimiter(resizesPerSecond, burst),
		workloads: map[types.NamespacedName]*workload{},
	}
}
