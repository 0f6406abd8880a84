package colocationprofile

import (
	"context"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/flowcontrol"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	configv1alpha1 "koordinator.sh/koord/api/config/v1alpha1"
)

// patchesPerSecond and burst bound the patches of pods.
const (
	patchesPerSecond = 10
	burst            = 100
)

var patches = prometheus.NewCounterVec(prometheus.CounterOpts{
	Subsystem: "koord_manager", Name: "colocation_profile_patches_total",
	Help: "Number of patches to existing pods by colocation profiles, by outcome.",
}, []string{"status"})

var register = sync.OnceFunc(func() { metrics.Registry.MustRegister(patches) })

func count(err error) {
	if err != nil {
		patches.WithLabelValues("failed").Inc()
		return
	}
	patches.WithLabelValues("succeeded").Inc()
}

// AddToManager adds the controller, which runs on the leader only. Pods of the exempt namespaces are never changed.
func AddToManager(mgr ctrl.Manager, exempt []string) error {
	register()
	same := handler.EnqueueRequestsFromMapFunc(func(context.Context, client.Object) []reconcile.Request {
		return []reconcile.Request{{NamespacedName: types.NamespacedName{Name: "pods"}}}
	})
	return ctrl.NewControllerManagedBy(mgr).
		Named("colocationprofile").
		Watches(&configv1alpha1.ClusterColocationProfile{}, same).
		WithOptions(controller.Options{MaxConcurrentReconciles: 1}).
		Complete(newReconciler(mgr.GetClient(), exempt, clock.RealClock{}))
}

func newReconciler(c client.Client, exempt []string, clock clock.PassiveClock) *reconciler {
	return &reconciler{
		client: c, exempt: exempt, clock: clock, sent: map[types.UID]sent{},
		limiter: flowcontrol.NewTokenBucketRateLimiter(patchesPerSecond, burst),
	}
}
