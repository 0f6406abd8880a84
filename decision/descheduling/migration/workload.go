package migration

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
)

// Workload is the Deployment of the pod to move.
type Workload struct {
	Name string
	// MaxSurge is how many pods more than its replicas its strategy allows; 0 for strategy Recreate.
	MaxSurge int
	// RollingOut is true while not all of its pods are of its latest template.
	RollingOut bool
	// Surging counts its pods that are replaced at present by jobs which evict them afterwards.
	Surging int
}

// WorkloadOf reads a Deployment, surging of whose pods are being replaced; nil for nil.
func WorkloadOf(deployment *appsv1.Deployment, surging int) *Workload {
	if deployment == nil {
		return nil
	}
	replicas := int32(1)
	if deployment.Spec.Replicas != nil {
		replicas = *deployment.Spec.Replicas
	}
	status := &deployment.Status
	return &Workload{
		Name: deployment.Name, Surging: surging, MaxSurge: maxSurge(&deployment.Spec.Strategy, int(replicas)),
		RollingOut: status.ObservedGeneration < deployment.Generation || status.UpdatedReplicas < status.Replicas,
	}
}

// maxSurge is how many pods more than its replicas a strategy allows: a percentage is rounded up, as the Deployment controller does. One
// that cannot be read allows none.
func maxSurge(strategy *appsv1.DeploymentStrategy, replicas int) int {
	if strategy.Type == appsv1.RecreateDeploymentStrategyType || strategy.RollingUpdate == nil || strategy.RollingUpdate.MaxSurge == nil {
		return 0
	}
	surge, err := intstr.GetScaledValueFromIntOrPercent(strategy.RollingUpdate.MaxSurge, replicas, true)
	if err != nil {
		return 0
	}
	return max(0, surge)
}

// Surging counts the other jobs that replace pods of a ReplicaSet at present. The pod of a job that has ended counts until it is given back.
// While not all pods of a Deployment are of one ReplicaSet, it is being rolled out and none is replaced, so that this is the count of the
// Deployment. Pod returns the pod of a job, nil when there is none; it is asked for pods of jobs in the namespace of the job alone.
func Surging(job *schedulingv1alpha1.PodMigrationJob, jobs []schedulingv1alpha1.PodMigrationJob, replicaSet types.UID, pod func(name string) (*corev1.Pod, error)) (int, error) {
	count := 0
	for i := range jobs {
		other := &jobs[i]
		ref := other.Spec.PodRef
		if other.UID == job.UID || ref == nil || ref.Namespace != job.Spec.PodRef.Namespace ||
			Condition(&other.Status, schedulingv1alpha1.PodMigrationJobConditionSurge) == nil {
			continue
		}
		moving, err := pod(ref.Name)
		if err != nil {
			return 0, err
		}
		if owner := surgesFrom(other, moving); owner != nil && owner.UID == replicaSet {
			count++
		}
	}
	return count, nil
}

// surgesFrom is the ReplicaSet that replaces the pod of a job; nil when none does.
func surgesFrom(job *schedulingv1alpha1.PodMigrationJob, pod *corev1.Pod) *metav1.OwnerReference {
	if pod == nil || pod.UID != PodUID(job) || pod.DeletionTimestamp != nil || Finished(job) && PodOf(pod).DetachedBy != job.UID {
		return nil
	}
	return ReplicaSetOf(pod)
}
