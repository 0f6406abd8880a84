package migration

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	"koordinator.sh/koord/decision/descheduling/migration"
	"koordinator.sh/koord/descheduler/replicasets"
)

// readWorkload reads the Deployment of a pod that is to be replaced before it is evicted, and how many of its pods are being replaced.
func (r *reconciler) readWorkload(ctx context.Context, from objects, s *situation) error {
	if s.pod == nil || !migration.WantsSurge(s.job, migration.PodOf(s.pod), r.args) {
		return nil
	}
	owner := migration.ReplicaSetOf(s.pod)
	if owner == nil {
		return nil
	}
	deployment, err := from.deployment(ctx, s.pod.Namespace, owner)
	if err != nil || deployment == nil {
		return err
	}
	jobs, err := from.jobs(ctx)
	if err != nil {
		return err
	}
	surging, err := migration.Surging(s.job, jobs, owner.UID, func(name string) (*corev1.Pod, error) {
		return from.pod(ctx, s.pod.Namespace, name)
	})
	if err != nil {
		return err
	}
	s.workload = migration.WorkloadOf(deployment, surging)
	return nil
}

// startsSurge reports whether a verdict records that the pod is replaced before it is evicted.
func startsSurge(job *schedulingv1alpha1.PodMigrationJob, verdict *migration.Verdict) bool {
	const surge = schedulingv1alpha1.PodMigrationJobConditionSurge
	return migration.Condition(&job.Status, surge) == nil && migration.Condition(&verdict.Status, surge) != nil
}

// patchPod detaches or attaches the pod of a job. A pod that is gone needs neither.
func (r *reconciler) patchPod(ctx context.Context, s situation, action migration.Action) error {
	if s.pod == nil || s.pod.UID != action.UID {
		return nil
	}
	patch, err := migration.Attachment(s.pod)
	if action.Kind == migration.DetachPod {
		patch, err = migration.Detachment(s.job, s.pod)
	}
	if err != nil {
		return err
	}
	if err := patchPod(ctx, r.client, s.pod, patch); err != nil {
		return fmt.Errorf("%s %s/%s: %w", action.Kind, s.pod.Namespace, s.pod.Name, err)
	}
	message := "Detached pod from its ReplicaSet"
	if action.Kind == migration.AttachPod {
		message = "Gave pod back to its ReplicaSet"
	}
	klog.FromContext(ctx).Info(message, "job", s.job.Name, "pod", klog.KObj(s.pod))
	return nil
}

// patchPod applies a merge patch. A pod that does not exist is no error.
func patchPod(ctx context.Context, writer client.Writer, pod *corev1.Pod, patch []byte) error {
	target := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: pod.Namespace, Name: pod.Name}}
	return client.IgnoreNotFound(writer.Patch(ctx, target, client.RawPatch(types.MergePatchType, patch)))
}

// deployment reads the Deployment above a ReplicaSet; nil when there is none.
func (o byReader) deployment(ctx context.Context, namespace string, replicaSet *metav1.OwnerReference) (*appsv1.Deployment, error) {
	above, _, err := replicasets.Above(ctx, o, namespace, replicaSet)
	if err != nil || above == nil || above.Kind != "Deployment" || above.APIVersion != appsv1.SchemeGroupVersion.String() {
		return nil, err
	}
	deployment, err := read[appsv1.Deployment](ctx, o, namespace, above.Name)
	if err != nil || deployment == nil || deployment.UID != above.UID {
		return nil, err
	}
	return deployment, nil
}

func (o byReader) jobs(ctx context.Context) ([]schedulingv1alpha1.PodMigrationJob, error) {
	var list schedulingv1alpha1.PodMigrationJobList
	if err := o.List(ctx, &list, client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("list migration jobs: %w", err)
	}
	return list.Items, nil
}
