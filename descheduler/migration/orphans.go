package migration

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"koordinator.sh/koord/api/extension"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	"koordinator.sh/koord/decision/descheduling/migration"
)

// releaseOrphans deletes Reservations that were made for jobs that do not exist.
func (s *scavenger) releaseOrphans(ctx context.Context, known map[types.UID]bool) error {
	var list schedulingv1alpha1.ReservationList
	err := s.client.List(ctx, &list, client.MatchingLabels{migration.LabelCreatedBy: migration.CreatedBy}, client.UnsafeDisableDeepCopy)
	if err != nil {
		return fmt.Errorf("list reservations: %w", err)
	}
	for i := range list.Items {
		reservation := &list.Items[i]
		owner := metav1.GetControllerOfNoCopy(reservation)
		if reservation.DeletionTimestamp != nil || owner == nil || owner.Kind != "PodMigrationJob" || known[owner.UID] {
			continue
		}
		if exists, err := s.exists(ctx, owner.Name, owner.UID); err != nil || exists {
			if err != nil {
				return err
			}
			continue
		}
		err = s.client.Delete(ctx, reservation.DeepCopy(), client.Preconditions{UID: &reservation.UID})
		if client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("delete reservation %q of a migration job that does not exist: %w", reservation.Name, err)
		}
		orphans.Inc()
		klog.FromContext(ctx).Info("Released reservation of a migration job that does not exist", "reservation", reservation.Name, "job", owner.Name)
	}
	return nil
}

// attachOrphans gives pods back to their ReplicaSets that were taken from them for jobs that do not exist.
func (s *scavenger) attachOrphans(ctx context.Context, known map[types.UID]bool) error {
	pods, err := s.pods(ctx)
	if err != nil {
		return fmt.Errorf("list pods: %w", err)
	}
	for _, pod := range pods {
		if _, detached := pod.Annotations[extension.AnnotationSurge]; !detached || pod.DeletionTimestamp != nil {
			continue
		}
		if surge, err := extension.GetSurge(pod.Annotations); err == nil {
			if known[surge.JobUID] {
				continue
			}
			if exists, err := s.exists(ctx, surge.Job, surge.JobUID); err != nil || exists {
				if err != nil {
					return err
				}
				continue
			}
		}
		if err := s.attach(ctx, pod); err != nil {
			return err
		}
	}
	return nil
}

func (s *scavenger) attach(ctx context.Context, pod *corev1.Pod) error {
	patch, err := migration.Attachment(pod)
	if err != nil {
		return err
	}
	if err := patchPod(ctx, s.client, pod, patch); err != nil {
		return fmt.Errorf("give pod %s/%s back to its ReplicaSet: %w", pod.Namespace, pod.Name, err)
	}
	klog.FromContext(ctx).Info("Gave pod of a migration job that does not exist back to its ReplicaSet", "pod", klog.KObj(pod))
	return nil
}

// exists asks the API server for a job, because the cache may be behind.
func (s *scavenger) exists(ctx context.Context, name string, uid types.UID) (bool, error) {
	job, err := byReader{s.live}.job(ctx, name)
	return job != nil && job.UID == uid, err
}

// podList returns what lists all pods: from the informers, or by the reader where there are none.
func podList(reader client.Reader, informers informers.SharedInformerFactory) func(context.Context) ([]*corev1.Pod, error) {
	if informers != nil {
		lister := informers.Core().V1().Pods().Lister()
		return func(context.Context) ([]*corev1.Pod, error) { return lister.List(labels.Everything()) }
	}
	return func(ctx context.Context) ([]*corev1.Pod, error) {
		var list corev1.PodList
		if err := reader.List(ctx, &list, client.UnsafeDisableDeepCopy); err != nil {
			return nil, err
		}
		pods := make([]*corev1.Pod, len(list.Items))
		for i := range list.Items {
			pods[i] = &list.Items[i]
		}
		return pods, nil
	}
}
