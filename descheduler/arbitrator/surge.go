package arbitrator

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	"koordinator.sh/koord/decision/descheduling/migration"
)

// replacedFirst reports whether a pending job replaces its pod before it evicts it, by the decision of the migration controller, or why it
// does not although it is to.
func (a *Arbitrator) replacedFirst(
	ctx context.Context, args *migration.Args, job *schedulingv1alpha1.PodMigrationJob, pod *corev1.Pod, workload owner,
) (bool, string, error) {
	if args == nil {
		args = migration.DefaultArgs()
	}
	in := migration.Input{Job: job, Args: args, World: migration.World{Pod: migration.PodOf(pod)}}
	if !migration.WantsSurge(job, in.Pod, args) {
		return false, "", nil
	}
	deployment, err := a.owners.deployment(ctx, pod.Namespace, workload)
	if err != nil {
		return false, "", err
	}
	in.Workload = migration.WorkloadOf(deployment, 0)
	first, refusal := migration.ReplacedFirst(in)
	return first, refusal, nil
}

// deployment is a workload that is one; nil for others, and for one that does not exist any more.
func (o *owners) deployment(ctx context.Context, namespace string, of owner) (*appsv1.Deployment, error) {
	if !of.found || of.group != appsv1.SchemeGroupVersion || of.kind != "Deployment" {
		return nil, nil
	}
	deployment := &appsv1.Deployment{}
	err := o.client.Get(ctx, types.NamespacedName{Namespace: namespace, Name: of.name}, deployment)
	switch {
	case apierrors.IsNotFound(err) || err == nil && deployment.UID != of.uid:
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("get Deployment %s/%s: %w", namespace, of.name, err)
	}
	return deployment, nil
}
