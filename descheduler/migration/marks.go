package migration

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	"koordinator.sh/koord/decision/descheduling/migration"
)

// mark changes the annotations of a job's pod by which other components know of its eviction. The status is the one that was written.
func (r *reconciler) mark(ctx context.Context, s situation, status schedulingv1alpha1.PodMigrationJobStatus) error {
	job := s.job.DeepCopy()
	job.Status = status
	marks := migration.Marks(job, s.pod, false)
	if len(marks) == 0 {
		return nil
	}
	if migration.Finished(job) {
		another, err := r.another(ctx, job)
		if err != nil {
			return err
		}
		if marks = migration.Marks(job, s.pod, another); len(marks) == 0 {
			return nil
		}
	}
	patch, err := migration.PodPatch(s.pod, map[string]any{"annotations": marks})
	if err != nil {
		return err
	}
	if err := patchPod(ctx, r.client, s.pod, patch); err != nil {
		return fmt.Errorf("patch the annotations of pod %s/%s: %w", s.pod.Namespace, s.pod.Name, err)
	}
	klog.FromContext(ctx).V(1).Info("Changed the annotations of the pod", "job", job.Name, "pod", klog.KObj(s.pod), "annotations", slices.Sorted(maps.Keys(marks)))
	return nil
}

// another reports whether the pod of a job has another job that has not ended.
func (r *reconciler) another(ctx context.Context, job *schedulingv1alpha1.PodMigrationJob) (bool, error) {
	var list schedulingv1alpha1.PodMigrationJobList
	key := job.Spec.PodRef.Namespace + "/" + job.Spec.PodRef.Name
	if err := r.client.List(ctx, &list, client.MatchingFields{byPod: key}, client.UnsafeDisableDeepCopy); err != nil {
		return false, fmt.Errorf("list the migration jobs of pod %s: %w", key, err)
	}
	return slices.ContainsFunc(list.Items, func(other schedulingv1alpha1.PodMigrationJob) bool {
		return other.UID != job.UID && !migration.Finished(&other)
	}), nil
}
