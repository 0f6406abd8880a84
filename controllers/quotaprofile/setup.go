package quotaprofile

import (
	"context"
	"fmt"
	"maps"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"koordinator.sh/koord/api/extension"
	quotav1alpha1 "koordinator.sh/koord/api/quota/v1alpha1"
	schedulingsigsv1alpha1 "koordinator.sh/koord/api/schedulingsigs/v1alpha1"
	"koordinator.sh/koord/decision/admission/quotaprofile"
)

// nodeChangeDelay batches node changes: a profile is reconciled once for all nodes that change within it.
const nodeChangeDelay = time.Second

// AddToManager adds the controller, which runs on the leader only.
func AddToManager(mgr ctrl.Manager) error {
	r := &reconciler{client: mgr.GetClient(), recorder: mgr.GetEventRecorder("quotaprofile")}
	err := ctrl.NewControllerManagedBy(mgr).
		Named("quotaprofile").
		For(&quotav1alpha1.ElasticQuotaProfile{}).
		Watches(&corev1.Node{}, selecting(mgr.GetClient(), known(mgr.GetCache())), builder.WithPredicates(nodeMatters())).
		Watches(&schedulingsigsv1alpha1.ElasticQuota{}, handler.EnqueueRequestsFromMapFunc(profileOf), builder.WithPredicates(quotaMatters())).
		WithOptions(controller.Options{MaxConcurrentReconciles: 1}).
		Complete(r)
	if err != nil {
		return fmt.Errorf("add the quota profile controller: %w", err)
	}
	return nil
}

// profileOf is the profile that a quota says it belongs to.
func profileOf(_ context.Context, object client.Object) []reconcile.Request {
	name := object.GetLabels()[extension.LabelQuotaProfile]
	if name == "" {
		return nil
	}
	return []reconcile.Request{{NamespacedName: types.NamespacedName{Namespace: object.GetNamespace(), Name: name}}}
}

// known reports whether the cache has the profiles. Before that a list of them would wait, for ever where the API server does
// not serve them or the roles of an older chart do not allow to watch them, while what happens to nodes piles up.
func known(c cache.Cache) func(context.Context) bool {
	return func(ctx context.Context) bool {
		informer, err := c.GetInformer(ctx, &quotav1alpha1.ElasticQuotaProfile{}, cache.BlockUntilSynced(false))
		return err == nil && informer.HasSynced()
	}
}

// selecting enqueues the profiles that select a node, or did before it changed. Profiles that are not known yet are enqueued when
// they are.
func selecting(reader client.Reader, known func(context.Context) bool) handler.EventHandler {
	enqueue := func(ctx context.Context, queue workqueue.TypedRateLimitingInterface[reconcile.Request], nodes ...client.Object) {
		if !known(ctx) {
			return
		}
		var profiles quotav1alpha1.ElasticQuotaProfileList
		if err := reader.List(ctx, &profiles, client.UnsafeDisableDeepCopy); err != nil {
			klog.FromContext(ctx).Error(err, "Failed to list the quota profiles of a node", "node", nodes[0].GetName())
			return
		}
		for i := range profiles.Items {
			selector, err := quotaprofile.Selector(&profiles.Items[i])
			if err != nil {
				continue
			}
			for _, node := range nodes {
				if selector.Matches(labels.Set(node.GetLabels())) {
					queue.AddAfter(reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&profiles.Items[i])}, nodeChangeDelay)
					break
				}
			}
		}
	}
	type queue = workqueue.TypedRateLimitingInterface[reconcile.Request]
	return handler.Funcs{
		CreateFunc: func(ctx context.Context, e event.CreateEvent, q queue) { enqueue(ctx, q, e.Object) },
		UpdateFunc: func(ctx context.Context, e event.UpdateEvent, q queue) { enqueue(ctx, q, e.ObjectOld, e.ObjectNew) },
		DeleteFunc: func(ctx context.Context, e event.DeleteEvent, q queue) { enqueue(ctx, q, e.Object) },
	}
}

// nodeMatters passes updates that change what a profile adds up. Heartbeats do not.
func nodeMatters() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		before, ok := e.ObjectOld.(*corev1.Node)
		after, ok2 := e.ObjectNew.(*corev1.Node)
		return !ok || !ok2 || !maps.Equal(before.Labels, after.Labels) || quotaprofile.Schedulable(before) != quotaprofile.Schedulable(after) ||
			!equality.Semantic.DeepEqual(before.Status.Allocatable, after.Status.Allocatable)
	}}
}

// quotaMatters passes quotas of profiles that somebody changed, and those that are gone. The scheduler's status does not matter.
func quotaMatters() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		before, ok := e.ObjectOld.(*schedulingsigsv1alpha1.ElasticQuota)
		after, ok2 := e.ObjectNew.(*schedulingsigsv1alpha1.ElasticQuota)
		if !ok || !ok2 || !maps.Equal(before.Labels, after.Labels) || !equality.Semantic.DeepEqual(before.Spec, after.Spec) {
			return true
		}
		for _, key := range []string{extension.AnnotationQuotaTotalResource, extension.AnnotationQuotaUnschedulableResource} {
			if before.Annotations[key] != after.Annotations[key] {
				return true
			}
		}
		return false
	}}
}
