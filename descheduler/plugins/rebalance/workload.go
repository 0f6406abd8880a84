package rebalance

import (
	"context"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"koordinator.sh/koord/decision/descheduling/rebalance"
)

// workloads finds what owns pods, each controller once in a pass.
type workloads struct {
	client client.Client
	found  []rebalance.Workload
	// of a controller is the place in found; jobs are those of Jobs.
	of   map[types.UID]int
	jobs map[types.UID]*batchv1.Job
}

func newWorkloads(reading client.Client) *workloads {
	return &workloads{client: reading, of: map[types.UID]int{}, jobs: map[types.UID]*batchv1.Job{}}
}

// index of the workload of a pod; -1 for a bare pod.
func (w *workloads) index(ctx context.Context, pod *corev1.Pod) int {
	controller := metav1.GetControllerOfNoCopy(pod)
	if controller == nil {
		return -1
	}
	at, known := w.of[controller.UID]
	if !known {
		owner, freeze, replicas := w.read(ctx, pod.Namespace, controller)
		if at, known = w.of[owner.UID]; !known {
			at = len(w.found)
			// The form is that of the annotation source-workload of PodMigrationJobs.
			w.found = append(w.found, rebalance.Workload{Key: owner.Kind + "/" + owner.Name + "/" + string(owner.UID), Replicas: replicas, Freeze: freeze})
			w.of[owner.UID] = at
		}
		w.of[controller.UID] = at
	}
	return at
}

// read finds the workload of a controller. One that cannot be read is taken as it is referred to.
func (w *workloads) read(ctx context.Context, namespace string, controller *metav1.OwnerReference) (metav1.OwnerReference, rebalance.Freeze, int) {
	key := types.NamespacedName{Namespace: namespace, Name: controller.Name}
	switch controller.Kind {
	case "ReplicaSet":
		var set appsv1.ReplicaSet
		if err := w.client.Get(ctx, key, &set); err != nil || set.UID != controller.UID {
			break
		}
		if above := metav1.GetControllerOf(&set); above != nil {
			return w.read(ctx, namespace, above)
		}
		return *controller, scaling(orOne(set.Spec.Replicas), set.Status.Replicas), int(orOne(set.Spec.Replicas))
	case "Deployment":
		var deployment appsv1.Deployment
		if err := w.client.Get(ctx, key, &deployment); err != nil || deployment.UID != controller.UID {
			break
		}
		s, replicas := &deployment.Status, orOne(deployment.Spec.Replicas)
		if s.ObservedGeneration < deployment.Generation || s.UpdatedReplicas < min(replicas, s.Replicas) {
			return *controller, rebalance.Rollout, int(replicas)
		}
		return *controller, scaling(replicas, s.Replicas), int(replicas)
	case "StatefulSet":
		var set appsv1.StatefulSet
		if err := w.client.Get(ctx, key, &set); err != nil || set.UID != controller.UID {
			break
		}
		s, replicas := &set.Status, orOne(set.Spec.Replicas)
		if s.ObservedGeneration < set.Generation || s.CurrentRevision != s.UpdateRevision {
			return *controller, rebalance.Rollout, int(replicas)
		}
		return *controller, scaling(replicas, s.Replicas), int(replicas)
	case "Job":
		var job batchv1.Job
		if err := w.client.Get(ctx, key, &job); err == nil && job.UID == controller.UID {
			w.jobs[controller.UID] = &job
			return *controller, "", int(orOne(job.Spec.Parallelism))
		}
	}
	return *controller, "", 1
}

func scaling(wanted, running int32) rebalance.Freeze {
	if wanted < running {
		return rebalance.ScaleDown
	}
	return ""
}

func orOne(count *int32) int32 {
	if count == nil {
		return 1
	}
	return *count
}

// lifetime is how long a pod of a Job may still run, nil without a deadline, and what it has done so far, which a move loses.
func (w *workloads) lifetime(pod *corev1.Pod, now time.Time) (remaining *time.Duration, done time.Duration) {
	controller := metav1.GetControllerOfNoCopy(pod)
	if controller == nil || w.jobs[controller.UID] == nil || pod.Status.StartTime == nil {
		return nil, 0
	}
	job := w.jobs[controller.UID]
	if seconds := job.Spec.ActiveDeadlineSeconds; seconds != nil && job.Status.StartTime != nil {
		remaining = new(max(job.Status.StartTime.Add(time.Duration(*seconds)*time.Second).Sub(now), 0))
	}
	return remaining, max(now.Sub(pod.Status.StartTime.Time), 0)
}
