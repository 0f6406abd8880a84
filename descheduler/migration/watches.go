package migration

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"koordinator.sh/koord/api/extension"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	"koordinator.sh/koord/decision/descheduling/migration"
)

// Indexes of jobs in the cache.
const (
	byPod         = "migration.pod"
	byReservation = "migration.reservation"
	byNode        = "migration.node"
)

// addIndexes finds jobs by the pods they move and moved, by their Reservation, and by the node they move to.
func addIndexes(ctx context.Context, indexer client.FieldIndexer) error {
	indexes := map[string]func(*schedulingv1alpha1.PodMigrationJob) []string{
		byPod: func(job *schedulingv1alpha1.PodMigrationJob) (keys []string) {
			for _, ref := range []*corev1.ObjectReference{job.Spec.PodRef, job.Status.PodRef} {
				if ref != nil {
					keys = append(keys, ref.Namespace+"/"+ref.Name)
				}
			}
			return keys
		},
		byReservation: func(job *schedulingv1alpha1.PodMigrationJob) []string {
			return []string{migration.ReservationName(job)}
		},
		byNode: func(job *schedulingv1alpha1.PodMigrationJob) []string {
			if job.Status.NodeName == "" || migration.Finished(job) {
				return nil
			}
			return []string{job.Status.NodeName}
		},
	}
	for name, keys := range indexes {
		err := indexer.IndexField(ctx, &schedulingv1alpha1.PodMigrationJob{}, name, func(object client.Object) []string {
			job, ok := object.(*schedulingv1alpha1.PodMigrationJob)
			if !ok {
				return nil
			}
			return keys(job)
		})
		if err != nil {
			return fmt.Errorf("index migration jobs by %s: %w", name, err)
		}
	}
	return nil
}

// jobs of an index.
func (r *reconciler) jobs(ctx context.Context, index, key string) []reconcile.Request {
	var list schedulingv1alpha1.PodMigrationJobList
	if err := r.client.List(ctx, &list, client.MatchingFields{index: key}, client.UnsafeDisableDeepCopy); err != nil {
		klog.FromContext(ctx).Error(err, "Failed to list the migration jobs of an object", "index", index, "key", key)
		return nil
	}
	requests := make([]reconcile.Request, 0, len(list.Items))
	for i := range list.Items {
		requests = append(requests, reconcile.Request{NamespacedName: types.NamespacedName{Name: list.Items[i].Name}})
	}
	return requests
}

func (r *reconciler) jobsOfPod(ctx context.Context, pod client.Object) []reconcile.Request {
	return r.jobs(ctx, byPod, pod.GetNamespace()+"/"+pod.GetName())
}

func (r *reconciler) jobsOfReservation(ctx context.Context, reservation client.Object) []reconcile.Request {
	requests := r.jobs(ctx, byReservation, reservation.GetName())
	if owner := metav1.GetControllerOfNoCopy(reservation); owner != nil && owner.Kind == "PodMigrationJob" {
		requests = append(requests, reconcile.Request{NamespacedName: types.NamespacedName{Name: owner.Name}})
	}
	return requests
}

func (r *reconciler) jobsToNode(ctx context.Context, node client.Object) []reconcile.Request {
	return r.jobs(ctx, byNode, node.GetName())
}

// podMatters passes updates that a job may wait for.
func podMatters[T client.Object]() predicate.TypedPredicate[T] {
	return predicate.TypedFuncs[T]{UpdateFunc: func(e event.TypedUpdateEvent[T]) bool {
		before, ok := any(e.ObjectOld).(*corev1.Pod)
		after, ok2 := any(e.ObjectNew).(*corev1.Pod)
		if !ok || !ok2 {
			return true
		}
		return before.UID != after.UID || before.Spec.NodeName != after.Spec.NodeName || before.Status.Phase != after.Status.Phase ||
			(before.DeletionTimestamp == nil) != (after.DeletionTimestamp == nil) || migration.ReplacementOf(before).Ready != migration.ReplacementOf(after).Ready ||
			before.Labels[extension.LabelPodEvictPolicy] != after.Labels[extension.LabelPodEvictPolicy] ||
			before.Annotations[extension.AnnotationSurge] != after.Annotations[extension.AnnotationSurge] ||
			before.Annotations[extension.AnnotationSoftEviction] != after.Annotations[extension.AnnotationSoftEviction] ||
			before.Annotations[extension.AnnotationEvictionInProgress] != after.Annotations[extension.AnnotationEvictionInProgress]
	}}
}

// nodeMatters passes nodes that are deleted, and updates of whether they take pods.
func nodeMatters[T client.Object]() predicate.TypedPredicate[T] {
	return predicate.TypedFuncs[T]{
		CreateFunc: func(event.TypedCreateEvent[T]) bool { return true },
		UpdateFunc: func(e event.TypedUpdateEvent[T]) bool {
			before, ok := any(e.ObjectOld).(*corev1.Node)
			after, ok2 := any(e.ObjectNew).(*corev1.Node)
			return !ok || !ok2 || *migration.NodeOf(before) != *migration.NodeOf(after)
		},
	}
}

func anyOf(predicates ...predicate.Predicate) []predicate.Predicate { return predicates }
