package live

import (
	"context"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"koordinator.sh/koord/decision/descheduling/migration"
)

// workload reads the Deployment of a pod that is to be replaced before it is evicted, and how many of its pods are. It is not asked for
// where the answer does not depend on it. Without the other jobs and their pods, how many are replaced is unseen.
func (m *migrationReader) workload(ctx context.Context) (unseen bool, _ error) {
	if m.in.Pod == nil || !migration.WantsSurge(m.in.Job, migration.PodOf(m.in.Pod), m.in.Args) {
		return false, nil
	}
	owner := migration.ReplicaSetOf(m.in.Pod)
	if owner == nil {
		return false, nil
	}
	const consequence = "whether the pod can be replaced before it is evicted is unknown"
	set, deployment := &appsv1.ReplicaSet{}, &appsv1.Deployment{}
	namespace := m.in.Pod.Namespace
	found, unseen, err := m.seen(m.clients.apps(ctx, "replicasets", namespace, owner.Name, set), consequence)
	if !found {
		return unseen, err
	}
	above := metav1.GetControllerOf(set)
	if set.UID != owner.UID || above == nil || above.Kind != "Deployment" {
		return false, nil
	}
	if found, unseen, err = m.seen(m.clients.apps(ctx, "deployments", namespace, above.Name, deployment), consequence); !found {
		return unseen, err
	}
	if !m.in.JobsSeen {
		return true, nil
	}
	surging, err := migration.Surging(m.in.Job, m.in.Jobs, owner.UID, func(name string) (*corev1.Pod, error) {
		pod, hidden, err := m.readPod(ctx, &corev1.ObjectReference{Namespace: namespace, Name: name})
		unseen = unseen || hidden
		return pod, err
	})
	m.in.Workload = migration.WorkloadOf(deployment, surging)
	return unseen, err
}
